"""How long the server waits for its clients.

A client that says half of something and then nothing costs a connection for as long as it is waited
for. These are no settings: what is honest on a bad line is the same for every operator.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds, and bytes, of what is waited for. Tests wait less."""

    head_seconds: float = 20
    """For the whole head of a request, from when the connection is there or the last one is
    answered. A head is sent at once, in a packet or two."""
    head_bytes: int = 65_536
    """Most bytes of a head; clients and proxies keep to 8 to 32 KiB."""
    idle_seconds: int = 5
    """Between two requests. Clients that keep connections for longer try again on a new one."""
    body_seconds: float = 20
    """For a body of any length, beside the time that its bytes may take."""
    body_bytes_per_second: float = 1_000
    """The slowest sender that is waited for, as slow as a modem of 1993: 1 MiB may take 18
    minutes."""
    silence_seconds: float = 30
    """For the next bytes of a body, however many came before: a phone in a tunnel comes back."""
    unread_seconds: float = 20
    """For the rest of a body that was answered without being read. Many clients look at the answer
    only when they have sent everything."""
    reading_seconds: float = 300
    """For a client to take anything of an answer that it does not read."""

    def body_deadline(self, begun: float, heard: float, received: int) -> float:
        """When to give up a body that began and was last heard of at these times, and of which so
        many bytes are here."""
        slowest = begun + self.body_seconds + received / self.body_bytes_per_second
        return min(slowest, heard + self.silence_seconds)
