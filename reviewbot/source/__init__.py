"""What is looked at: files on disk, git objects at a commit, diffs, permalinks."""
