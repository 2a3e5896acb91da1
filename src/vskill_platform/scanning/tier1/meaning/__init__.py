"""What a skill means: what its sentences say together, where it quotes, and what its files do together."""
