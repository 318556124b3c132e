"""What holds for every metric: its verbs, laws, references, errors, groups and intervals."""
