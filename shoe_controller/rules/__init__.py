"""The games as the house published them: data, and the named predicates that the data refers to."""
