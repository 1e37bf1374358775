"""Keys that assertions are verified with: which texts are keys, and of which algorithm."""

import json

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from jwt.algorithms import HMACAlgorithm

from shared.auth.verification_keys import Algorithm, KeyUnusable, read_key, read_key_set, secret_key
from tests.unit.shared.auth.signing import private_key, public_jwk, public_pem


@pytest.mark.parametrize("algorithm", ["EdDSA", "ES256", "RS256"])
def test_a_key_is_read_from_pem_and_from_public_jwk(algorithm: str) -> None:
    from_pem = read_key(f"\n{public_pem(private_key(algorithm))}\n")
    from_jwk = read_key(json.dumps(public_jwk(algorithm, kid="one")))

    assert (from_pem.algorithm, from_pem.key_id) == (algorithm, None)
    assert (from_jwk.algorithm, from_jwk.key_id) == (algorithm, "one")
    assert from_pem.material == from_jwk.material


def private_pem() -> str:
    return private_key("EdDSA").private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "words",
        "{",
        "{}",
        '{"kty": "oct", "k": "c2VjcmV0"}',
        '{"kty": "RSA", "n": "AQAB", "e": "AQAB", "d": "AQAB"}',
        "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----",
        private_pem(),
        json.dumps(public_jwk("EdDSA", d="AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")),
        public_pem(rsa.generate_private_key(public_exponent=65537, key_size=1024)),  # noqa: S505 - to be refused
        public_pem(ec.generate_private_key(ec.SECP384R1())),
    ],
)
def test_weak_private_secret_or_broken_keys_are_refused(text: str) -> None:
    with pytest.raises(KeyUnusable):
        read_key(text)


def test_a_refused_key_is_not_repeated_in_the_error() -> None:
    with pytest.raises(KeyUnusable) as raised:
        read_key('{"kty": "oct", "k": "c2VjcmV0"}')

    assert "c2VjcmV0" not in str(raised.value)


def test_a_key_set_gives_its_usable_keys() -> None:
    shared = json.loads(HMACAlgorithm.to_jwk("secret"))
    found = read_key_set(
        {"keys": [public_jwk("EdDSA", kid="one"), shared, {"kty": "?"}, "words", public_jwk("RS256", kid="two")]}
    )

    assert [(key.algorithm, key.key_id) for key in found] == [(Algorithm.EDDSA, "one"), (Algorithm.RS256, "two")]


def test_a_key_that_is_published_for_encryption_verifies_nothing() -> None:
    keys = [public_jwk("EdDSA", kid="one", use="sig"), public_jwk("RS256", kid="two", use="enc")]

    assert [key.key_id for key in read_key_set({"keys": keys})] == ["one"]


@pytest.mark.parametrize("content", [{}, {"keys": None}, {"keys": {}}, {"keys": []}])
def test_a_key_set_without_keys_gives_none(content: dict[str, object]) -> None:
    assert read_key_set(content) == ()


@pytest.mark.parametrize(
    ("algorithm", "key_id", "fits"),
    [("EdDSA", "one", True), ("EdDSA", None, True), ("EdDSA", "two", False), ("ES256", "one", False)],
)
def test_a_key_fits_its_own_algorithm_and_name(algorithm: str, key_id: str | None, fits: bool) -> None:
    assert read_key(json.dumps(public_jwk("EdDSA", kid="one"))).fits(algorithm, key_id) is fits


def test_a_short_secret_is_refused() -> None:
    with pytest.raises(KeyUnusable, match="at least 32 bytes"):
        secret_key(b"short")


def test_every_algorithm_is_one_that_the_library_knows() -> None:
    assert set(Algorithm) <= set(jwt.algorithms.get_default_algorithms())
