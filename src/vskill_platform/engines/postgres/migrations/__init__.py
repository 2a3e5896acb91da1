"""The schema, as numbered steps. A step that was released is never changed; a change is a new step.

Old and new code run side by side while machines are restarted one after the other, so a step adds: a column with a
default, a table, an index, a function under a new name. The first line of a step says which code can still work with it:
`-- least code: n` means code that knows the steps up to n.
"""
