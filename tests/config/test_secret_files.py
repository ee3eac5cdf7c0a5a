import pytest

from shoe_controller.config import SecretFileError, read_password, read_secret


@pytest.fixture
def secret(tmp_path):
    def write(content, mode=0o600):
        path = tmp_path / "secret"
        path.write_bytes(content)
        path.chmod(mode)
        return path

    return write


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_a_secret_of_its_owner_alone_is_read_byte_for_byte(secret, mode):
    assert read_secret(secret(b"key\n", mode)) == b"key\n"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660, 0o602])
def test_a_secret_that_others_can_reach_is_refused_with_the_cure(secret, mode):
    path = secret(b"key", mode)
    with pytest.raises(SecretFileError, match=rf"has mode {mode:04o}, .*: chmod 0600 {path}"):
        read_secret(path)


def test_a_missing_secret_is_a_sentence(tmp_path):
    with pytest.raises(SecretFileError, match="cannot be read: No such file"):
        read_secret(tmp_path / "gone")


def test_a_file_that_is_too_large_for_a_secret_is_refused(secret):
    with pytest.raises(SecretFileError, match="is larger than"):
        read_secret(secret(b"x" * 20_000))


@pytest.mark.parametrize("content", [b"open sesame", b"open sesame\n", b"open sesame\r\n"])
def test_a_password_is_the_line_without_its_end(secret, content):
    assert read_password(secret(content)) == "open sesame"


@pytest.mark.parametrize("content, sentence", [(b"", "on one line"), (b"a\nb\n", "on one line"), (b"\xff", "no UTF-8")])
def test_what_is_no_password_is_refused(secret, content, sentence):
    with pytest.raises(SecretFileError, match=sentence):
        read_password(secret(content))
