"""Settings, and which of them go together."""

from dataclasses import dataclass


@dataclass
class Settings:
    """`resume` is "job" or "page": from where an interrupted job goes on."""

    resume: str = "job"
    watermark: bool = False
    booklet: bool = False


def validate(settings: Settings) -> None:
    """Refuses settings that do not go together."""
    if settings.resume == "page" and settings.watermark:
        # The stamp counts sheets from the first one on.
        raise ValueError("resume='page' does not support watermark=True yet")
