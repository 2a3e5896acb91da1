"""The ids that git gives to files, folders and commits, worked out without git: a version's commit is known before it is made."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from vskill_platform.domain.content import SkillFile

WHO = "vskill-platform <registry@localhost> 0 +0000"
"""Who makes all commits, and when: always the same, so that a commit depends on what is in it alone."""
FOLDER_MODE, FILE_MODE, EXECUTABLE_MODE = "40000", "100644", "100755"
_Tree = dict[str, "tuple[str, str] | _Tree"]


def commit_id(files: Iterable[SkillFile], *, message: str) -> str:
    """The id of the commit without a parent that has these files."""
    tree: _Tree = {}
    for file in files:
        *folders, name = file.path.split("/")
        place = tree
        for folder in folders:
            deeper = place.setdefault(folder, {})
            assert isinstance(deeper, dict), f"{file.path}: a file has the name of a folder"
            place = deeper
        place[name] = (file_mode(file), _id("blob", file.content))
    text = f"tree {_tree_id(tree)}\nauthor {WHO}\ncommitter {WHO}\n\n{message}"
    return _id("commit", text.encode())


def file_mode(file: SkillFile) -> str:
    """The mode that git has for a file."""
    return EXECUTABLE_MODE if file.executable else FILE_MODE


def _tree_id(tree: _Tree) -> str:
    lines = []
    for name, entry in tree.items():
        mode, identity = (FOLDER_MODE, _tree_id(entry)) if isinstance(entry, dict) else entry
        # Git sorts folders as if their names ended with a slash.
        order = name.encode() + (b"/" if mode == FOLDER_MODE else b"")
        lines.append((order, f"{mode} {name}".encode() + b"\0" + bytes.fromhex(identity)))
    return _id("tree", b"".join(line for _, line in sorted(lines)))


def _id(kind: str, content: bytes) -> str:
    # SHA-1 is what git names things by; what was verified is held by SHA-256 before it comes here.
    return hashlib.sha1(f"{kind} {len(content)}".encode() + b"\0" + content, usedforsecurity=False).hexdigest()
