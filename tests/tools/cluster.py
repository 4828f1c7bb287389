"""A Postgres server of the tests' own, on loopback, with people who may more and who may less."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

if TYPE_CHECKING:
    from collections.abc import Iterator

WORD = "made-" + "up"  # every role's password
ROLES = """
CREATE ROLE reader LOGIN PASSWORD '{word}';
CREATE ROLE writer LOGIN PASSWORD '{word}'; GRANT pg_read_all_data, pg_write_all_data TO writer;
CREATE ROLE filer LOGIN PASSWORD '{word}'; GRANT pg_read_all_data, pg_read_server_files TO filer;
CREATE TABLE orders
  (id int, name text, price numeric(10, 2), paid boolean, at timestamptz, more jsonb, raw bytea);
INSERT INTO orders VALUES (1, 'pump', 12.50, true, '2026-03-03 07:01:13+00', '{{"a": [1]}}', '\\x0102'),
  (2, 'välve', 'NaN', NULL, 'infinity', NULL, NULL);
CREATE FUNCTION note() RETURNS int LANGUAGE sql SECURITY DEFINER AS
  $$ INSERT INTO orders (id) VALUES (99) RETURNING id $$;
CREATE FUNCTION shell() RETURNS int LANGUAGE plpgsql SECURITY DEFINER AS
  $$ BEGIN EXECUTE 'CREATE TABLE made (a int)'; RETURN 1; END $$;
CREATE PROCEDURE stepwise(INOUT n int) LANGUAGE plpgsql SECURITY DEFINER AS
  $$ BEGIN COMMIT; INSERT INTO orders (id) VALUES (98); COMMIT; END $$;
CREATE SEQUENCE ticket;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader;
GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO writer;
GRANT CREATE ON SCHEMA public TO writer
"""


@dataclass(frozen=True)
class Cluster:
    """A running server.

    Attributes:
        passfile: of the form that libpq reads, for every role.
    """

    port: int
    passfile: Path

    def dsn(self, role: str) -> str:
        return f"host=127.0.0.1 port={self.port} dbname=postgres user={role} passfile={self.passfile}"

    def rows(self, sql: str) -> list[Any]:
        """Ask as the superuser, plainly."""
        with psycopg.connect(self.dsn("boss"), autocommit=True) as base:
            return base.execute(sql.encode()).fetchall()


def programs() -> Path | None:
    """Return the folder of the newest server's programs; None where there is no server."""
    folders = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    found = max(folders, key=lambda one: float(one.parts[-3]), default=None) or shutil.which("initdb")
    return Path(found).resolve().parent if found else None


@contextmanager
def running(bin_folder: Path, passfile: Path) -> Iterator[Cluster]:
    """Run a server with a fresh cluster, as somebody else where we are root: it refuses to be root's."""
    folder = Path(tempfile.mkdtemp(prefix="hermes-pg-"))
    somebody: dict[str, Any] = {}
    if os.geteuid() == 0:
        who = next(one for one in pwd.getpwall() if one.pw_name in ("postgres", "nobody"))
        os.chown(folder, who.pw_uid, who.pw_gid)
        somebody = {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []}
    (folder / "word").write_text(WORD)
    (folder / "word").chmod(0o644)

    def do(program: str, *words: str) -> None:
        command = [str(bin_folder / program), "-D", str(folder / "data"), *words]
        done = subprocess.run(  # noqa: S603 - our own words
            command, cwd=folder, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **somebody
        )
        assert done.returncode == 0, done.stderr.decode()

    try:
        do(
            "initdb",
            "-U",
            "boss",
            "-A",
            "scram-sha-256",
            f"--pwfile={folder / 'word'}",
            "-E",
            "UTF8",
            "--no-sync",
        )
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        settings = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off"
        do("pg_ctl", "start", "-w", "-s", "-l", str(folder / "log"), "-o", settings)
        try:
            passfile.write_text(f"127.0.0.1:*:*:*:{WORD}\n")
            passfile.chmod(0o600)
            cluster = Cluster(port, passfile)
            with psycopg.connect(cluster.dsn("boss"), autocommit=True) as base:
                base.execute(ROLES.format(word=WORD).encode())
            yield cluster
        finally:
            do("pg_ctl", "stop", "-w", "-s", "-m", "immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
