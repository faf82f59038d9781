from survey.run import take


def test_weights(config, camera):
    assert take(config, camera, 1) == [[1.0]]
