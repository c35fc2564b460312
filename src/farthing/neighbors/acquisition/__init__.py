"""What the neighbour methods share: features acquired one by one until the vote is sure enough."""

__all__: list[str] = []
