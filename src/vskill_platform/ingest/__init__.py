"""Everything that touches untrusted bytes on their way in: repositories, folders, names and frontmatter."""
