"""Our own client: finding, installing, verifying and updating skills of a registry over the network.

It trusts a registry's word for what is published and nothing else: every byte is held to that word before it lies in a
folder where an agent would read it. It speaks to the one registry that it was given and needs no data folder.
"""
