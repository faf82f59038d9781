"""A night of the survey."""

from survey.dump import write_night


def take(config, camera, night):
    """Takes the night's exposures and makes its map."""
    exposures = camera.expose(night)
    if config.log_full_exposures:
        write_night(config.log_folder, night, exposures)
    return exposures["weight"]
