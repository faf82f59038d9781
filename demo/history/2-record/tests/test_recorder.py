from robot import recorder
from robot.episode import play


def test_rows_are_read_as_they_were_written(tmp_path):
    rows = [recorder.row(number, *play(1, number)) for number in range(3)]
    recorder.write(tmp_path / "rows.jsonl", rows)
    assert len(rows) == 3
    assert recorder.read(tmp_path / "rows.jsonl") == rows
