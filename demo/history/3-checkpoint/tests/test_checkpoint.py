from robot.checkpoint import Checkpoint, load, save


def test_a_checkpoint_is_read_as_it_was_written(tmp_path):
    saved = Checkpoint(seed=4, finished=(0, 2))
    save(tmp_path / "checkpoint.json", saved)
    assert load(tmp_path / "checkpoint.json") == saved
