"""What reports are set up with, and what is wrong with a setting."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from configured import read, refusal

if TYPE_CHECKING:
    from pathlib import Path

SHOP = '[health.checks.shop]\nurl = "https://shop.example/health"\n'
SALES = '[sql.reports.sales]\nquery = "SELECT 1"\n'


def test_a_check_is_set_up_by_its_address_alone(tmp_path: Path) -> None:
    (shop,) = read(tmp_path, SHOP).health.checks.values()
    assert (shop.method, shop.warn_cert_days, shop.ca_file) == ("GET", 14, None)
    assert shop.statuses == frozenset(range(200, 400))


@pytest.mark.parametrize(
    ("written", "well"),
    [
        ("200", {200}),
        ('"200-202"', {200, 201, 202}),
        ('["200 - 201", 401]', {200, 201, 401}),
    ],
)
def test_statuses_are_a_number_a_span_or_a_list(tmp_path: Path, written: str, well: set[int]) -> None:
    assert read(tmp_path, f"{SHOP}status = {written}\n").health.checks["shop"].statuses == well


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{SHOP}status = []\n", "status"),
        (f'{SHOP}status = "5xx"\n', "'5xx' is no status; write 200, \"200-399\", or a list of such"),
        (f'{SHOP}status = "400-200"\n', "is no status"),
        (f'{SHOP}method = "HEAD"\ncontains = "ok"\n', "asks for HEAD, which brings no page"),
        (f'{SHOP}method = "POST"\n', "method"),
        ('[health.checks.shop]\nurl = "ftp://shop.example"\n', "url"),
        ('[health.checks.shop]\nurl = "https://me:secret@shop.example"\n', "holds a password"),
        (f"{SHOP}warn_latency = 3\n", "warn_latency_ms"),
        (SALES, "reports.sales: needs source"),
        (
            f'[sql.sources.shop]\npath = "shop.db"\n{SALES}source = "shopp"\n',
            "reports.sales: there is no [sql.sources.shopp]; there are: shop",
        ),
    ],
)
def test_a_wrong_setting_is_refused_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    assert said in refusal(tmp_path, text)


def test_a_query_with_a_name_needs_no_source_where_there_is_one_database(tmp_path: Path) -> None:
    config = read(tmp_path, f'[sql.sources.shop]\npath = "shop.db"\n{SALES}')
    assert config.sql.reports["sales"].rows == 50
