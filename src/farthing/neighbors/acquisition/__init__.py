"""What the neighbour methods share: features are acquired one by one until the vote is confident enough."""

__all__: list[str] = []
