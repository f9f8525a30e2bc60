"""Ships lost byte ranges again."""
