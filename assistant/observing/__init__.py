"""What a running assistant tells those who run it: logs and metrics, never what users say."""
