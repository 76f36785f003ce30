"""The shipped constants on the shipped embedder: the only tests of this layer that load a real model."""

from functools import cache

import pytest

from agents.models.embedders import UseEmbedder
from masks.domains import DomainId, default_registry
from masks.leaks.calibration import Calibration, calibrate, shipped_calibration
from masks.leaks.detect import DetectionRequest, EmbeddingDetector
from masks.leaks.labels import DomainLabeller
from masks.vector import new_mask
from tests.masks.leaks.test_detect import spans

# Written for this test; none of them stands in the taxonomy.
SENTENCES = {
    "cs.databases": (
        "The optimiser chose a full scan because the statistics of the table were out of date.",
        "提交事务之前，更新过的行会一直被锁定。",
    ),
    "cs.security": (
        "Someone guessed the administrator's password and installed spyware.",
        "黑客通过弱口令入侵服务器并植入木马。",
    ),
    "med.clinical": (
        "The patient complained of fever and shortness of breath and was admitted to hospital.",
        "病人因持续高烧和咳嗽入院，X光片显示肺炎。",
    ),
    "life.food": (
        "Fry the onions in butter and season the sauce with pepper.",
        "把鸡蛋打散，加少许盐，下锅炒熟。",
    ),
    "law.civil": (
        "The landlord must return the deposit when the lease ends.",
        "卖方未按合同约定交货，应当承担违约责任。",
    ),
    "env.energy": (
        "Solar plants now supply a tenth of the country's electricity.",
        "风力发电量占全省用电量的一成。",
    ),
    "sci.astronomy": ("The rover photographed a crater on Mars.", "天文学家发现一颗围绕红矮星运行的行星。"),
    "hum.history": (
        "The emperor was deposed after the lost war of 1870.",
        "明朝灭亡后，清军入关建立新的王朝。",
    ),
}


@cache
def _calibrated() -> Calibration:
    return calibrate(UseEmbedder(), default_registry())


@pytest.fixture(scope="module")
def labeller() -> DomainLabeller:
    embedder = UseEmbedder()
    return DomainLabeller(embedder, default_registry(), shipped_calibration(embedder.name))


def test_the_shipped_constants_are_those_of_the_shipped_taxonomy() -> None:
    shipped, computed = shipped_calibration(UseEmbedder.name), _calibrated()
    assert shipped.registry_sha256 == computed.registry_sha256
    # Other processors round differently; the constants may move by one step of their grids.
    assert computed.temperature == pytest.approx(shipped.temperature, abs=0.0026)
    assert computed.none_score == pytest.approx(shipped.none_score, abs=0.003)
    assert computed.margin == pytest.approx(shipped.margin, abs=0.03)
    assert computed.leak_margin == pytest.approx(shipped.leak_margin, abs=0.03)
    assert computed.accuracy == pytest.approx(shipped.accuracy, abs=0.01)


def test_leave_one_out_accuracy_is_far_above_chance() -> None:
    # Each exemplar without its translation and without its nearest key term; chance is 1 in 38.
    assert _calibrated().accuracy > 0.7
    assert _calibrated().coverage > 0.55


def test_new_sentences_find_their_domain_in_both_languages(labeller: DomainLabeller) -> None:
    pairs = [(domain, text) for domain, texts in SENTENCES.items() for text in texts]
    labels = labeller.label([text for _, text in pairs])
    right = [label.distribution.best()[0] == domain for (domain, _), label in zip(pairs, labels, strict=True)]
    told = [(label.domain, domain) for (domain, _), label in zip(pairs, labels, strict=True) if label.domain]
    assert sum(right) >= 14
    assert len(told) >= 12
    assert sum(got == domain for got, domain in told) >= len(told) - 1


def test_talk_about_the_text_itself_is_unclassified(labeller: DomainLabeller) -> None:
    texts = [
        "The next part explains this in detail.",
        "资料里没有提到这一点。",
        "See the list above.",
        "下一节将作说明。",
    ]
    assert [label.domain for label in labeller.label(texts)] == [None] * len(texts)


def test_a_leak_is_found_among_main_material(labeller: DomainLabeller) -> None:
    mask = new_mask("a", {DomainId(leaf): 90 for leaf in default_registry().leaves_under(DomainId("cs"))})
    texts = (
        SENTENCES["cs.databases"][0],
        SENTENCES["med.clinical"][0],
        SENTENCES["cs.security"][1],
        SENTENCES["med.clinical"][1],
    )
    detection = EmbeddingDetector.sharing(labeller).detect(
        DetectionRequest(sentences=spans(*texts), mask=mask)
    )
    assert [(span.domain, span.sentences) for span in detection.spans] == [
        ("med.clinical", (1,)),
        ("med.clinical", (3,)),
    ]


def test_a_goal_is_ranked_for_planning(labeller: DomainLabeller) -> None:
    english = labeller.domains_of_text("Compare how PostgreSQL and MySQL store indexes and run transactions.")
    chinese = labeller.domains_of_text("比较几种抗生素的剂量与不良反应。")
    assert english[0].domain == "cs.databases"
    assert chinese[0].domain == "med.pharmacology"
