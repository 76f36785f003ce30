"""The texts of the program's own tools and of what decides about calls, in English and Chinese, by their kind."""
