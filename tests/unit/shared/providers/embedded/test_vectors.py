import numpy as np

from shared.providers.embedded.vectors import quantise


def test_components_become_thousandths_in_one_byte() -> None:
    vectors = np.array([[0.1, -0.0304, 0.0], [0.5, -0.5, 0.0006]], dtype=np.float32)

    assert np.frombuffer(quantise(vectors), dtype=np.int8).tolist() == [100, -30, 0, 127, -127, 1]
