"""A Qdrant server or cluster, over gRPC."""
