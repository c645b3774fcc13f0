"""What pytest does not collect: modules that run in an environment of their own."""

collect_ignore_glob = [
    "annotate/review/server/hosted/*",
    "benchprism/annotate/review/server/hosted/*",
]
