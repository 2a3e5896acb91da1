"""The ways a file is looked at: as it stands, and as it reads when what hides it is taken away."""
