"""Files that people really have: used, or refused in a sentence that holds none of their values."""

import io
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given, settings, strategies as st

from explorer.io import data_file
from explorer.io.data_file import DataFile, UnclearFirstRowError


def parquet_bytes(**columns) -> bytes:
    stream = io.BytesIO()
    parquet.write_table(pa.table(columns), stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("content", "columns", "values", "missing"),
    [
        (b"x\n1\n", ["x"], [1], 0),
        (b"x\r\n1\r\n2.5\r\n", ["x"], [1, 2.5], 0),
        (b"1\n2\n3\n", ["column 1"], [1, 2, 3], 0),
        (b"Ada,30\nBob,40\n", ["column 1", "column 2"], [30, 40], 0),
        (b"a,a,a\n1,2,3\n", ["a", "a (2)", "a (3)"], [3], 0),
        (b"a,\n1,2\n", ["a", "column 2"], [2], 0),
        (b'"<b onmouseover=alert(x)>x</b>"\n1\n', ["<b onmouseover=alert(x)>x</b>"], [1], 0),
        (b"name;v\nx;1,5\ny;-2,25e3\n", ["name", "v"], [1.5, -2250], 0),
        (b"v\n1,5\n2,7\n", ["v"], [1.5, 2.7], 0),
        (b"1,5;2,5\n3,5;4,5\n", ["column 1", "column 2"], [2.5, 4.5], 0),
        (b"a\tb\n1\t2\n", ["a", "b"], [2], 0),
        (b"a|b\n1|2\n", ["a", "b"], [2], 0),
        ("name;v\né;1\n".encode("cp1252"), ["name", "v"], [1], 0),
        ("\ufeffnäme\n1\n".encode(), ["näme"], [1], 0),
        ("näme,v\nx,1\n".encode("utf-16"), ["näme", "v"], [1], 0),
        (b"a,b\n1,\n2,NA\n3,4\n5,\n6,null\n", ["a", "b"], [4], 4),
        (b"sep=;\na;b\n1;2,5\n", ["a", "b"], [2.5], 0),
        (b"id;v\n1;.\n2;1,5\n", ["id", "v"], [1.5], 1),
        (b"v\nNA\n1,5\n2,5\n", ["v"], [1.5, 2.5], 1),
        (b"$51.77\n$48.11\n", ["column 1"], None, 0),
        (b"Ada Lovelace;f;NA\nBob;m;51000\n", ["column 1", "column 2", "column 3"], [51000], 1),
        (b"id,2019,2020\nA,50,60\n", ["column 1", "column 2", "column 3"], [2020, 60], 0),
        (b"a, b\n 1 , 2 \n", ["a", "b"], [2], 0),
        (b'a,b\n"one\ntwo, three",2\n', ["a", "b"], [2], 0),
        (b"\n \na,b\n1,2\n\n3,4\n", ["a", "b"], [2, 4], 0),
        (b"a,b\n1,2,\n3,4,\n", ["a", "b"], [2, 4], 0),
        (b",b\n1,2\n", ["column 1", "b"], [2], 0),
        (parquet_bytes(name=["x", "y", "z"], v=[1, None, 3]), ["name", "v"], [1, 3], 1),
        (parquet_bytes(v=[1.5, float("nan")]), ["v"], [1.5], 1),
        (parquet_bytes(v=[Decimal("1.5"), Decimal("-2.25")]), ["v"], [1.5, -2.25], 0),
        (parquet_bytes(v=pa.array([1, 2], pa.uint8())), ["v"], [1, 2], 0),
    ],
)
def test_files_that_can_be_read(content, columns, values, missing):
    file = DataFile(content, "people.csv")
    assert file.columns == columns
    if values is None:  # no numbers, but their names are no names either
        with pytest.raises(ValueError, match="not a number"):
            file.read(file.columns[-1])
        return
    column = file.read(file.columns[-1])
    np.testing.assert_array_equal(column.values, values)
    assert (column.missing, column.values.dtype) == (missing, np.float64)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"x,y\n", "has a header and no rows"),
        (b"x,y\n1,\n2,\n", "column 'y' has no numbers"),
        (b"x,y\n1,31337\n2,secret\n3,hidden\n", r"column 'y' has 2 cells \(the first in row 2\) that are not a number"),
        (b"x,y\n1,31337\n2,inf\n", r"column 'y' has a cell \(row 2\) that is infinite"),
        (b"x,y\n1,1e999\n", "infinite"),
        (b"x,y\n1,2\n31337,4,5\n", "line 3 has more cells than the first"),
        (b"name,age,income\nAda,30,50000\nBob,31337\n", "line 3 has fewer cells than the first"),
        (b"51,200\n31,337\n", "two numbers or one with a decimal comma"),
        (b"n;income;rate\nA;31.337;1,5\nB;48.000;2,5\n", None),
        (b"x\n1e200\n", "infinite, or beyond"),
        (",".join(["x"] * 2001).encode() + b"\n", "2,001 columns, more than the 2,000"),
        (b'x\n"31,337"\n"12,345"\n', "may be a decimal comma or separate thousands"),
        (b'x;y\n1;"1.5"\n1;"31,337"\n', "may be a decimal comma or separate thousands"),
        (b'x,y\n1,"31337\n', "line 2 is damaged"),
        (b"\x00\x01\x02", "not a text file"),
        (b"PK\x03\x04rest", "Excel"),
        (b"\x1f\x8brest", "compressed"),
        (b"PAR1 and then nothing", "cannot be read as Parquet"),
        (parquet_bytes(v=[1.0, 31337.0])[:-9], "cannot be read as Parquet"),
        (parquet_bytes(v=["secret"]), "column 'v' does not hold numbers but string"),
        (parquet_bytes(v=[True]), "does not hold numbers but bool"),
        (parquet_bytes(v=[[31337]]), "does not hold numbers but list"),
        (parquet_bytes(v=[1.0, None, float("-inf")]), r"a cell \(row 3\) that is infinite"),
        (parquet_bytes(v=pa.array([], pa.float64())), "has no rows"),
    ],
)
def test_files_that_are_refused_without_a_word_of_their_values(content, words):
    def read():
        file = DataFile(content, "people.csv")
        return file.read(file.columns[-1 if words else 1])

    with pytest.raises(ValueError, match=words or "a decimal point or separate thousands") as refusal:
        read()
    assert not any(value in str(refusal.value) for value in ("31337", "31,337", "secret", "hidden"))
    assert "\n" not in str(refusal.value)


def test_an_unknown_column_and_a_missing_file(tmp_path):
    with pytest.raises(ValueError, match="has no column 'z'; it has 'x', 'y'"):
        DataFile(b"x,y\n1,2\n").read("z")
    with pytest.raises(ValueError, match="cannot be read: No such file"):
        DataFile(tmp_path / "nothing.csv")


def test_whether_the_first_row_holds_names_can_be_said():
    years = b"id,2019,2020\nA,50,60\n"
    assert DataFile(years, header=True).columns == ["id", "2019", "2020"]
    assert DataFile(years, header=True).read("2020").values.tolist() == [60]
    assert DataFile(b"x\n1\n", header=False).columns == ["column 1"]


def test_two_thousand_equal_names_are_told_apart_at_once():
    file = DataFile(",".join(["x"] * 2000).encode() + b"\n" + b",".join([b"1"] * 2000))
    assert file.columns[-1] == "x (2000)"
    assert len(set(file.columns)) == 2000


def test_what_was_assumed_is_told():
    file = DataFile("1,5;é\n".encode("cp1252"))
    file.read("column 1")
    assert len(file.notes) == 3
    assert any("decimal commas" in note for note in file.notes)


def test_ten_million_rows_of_parquet():
    values = np.arange(10_000_000, dtype=float)
    values[::1000] = np.nan
    column = DataFile(parquet_bytes(text=np.full(values.size, "t"), v=values)).read("v")
    assert (column.values.size, column.missing) == (9_990_000, 10_000)
    assert column.values.sum() == np.nansum(values)


def test_more_rows_than_memory_holds_are_refused_before_they_are_read(monkeypatch):
    monkeypatch.setattr(data_file, "MOST_ROWS", 2)
    with pytest.raises(ValueError, match="has 3 rows, more than the 2"):
        DataFile(parquet_bytes(v=[1, 2, 3]))


_CELL = st.text(alphabet='0123456789.,;-+eE"\n\t |x<>&é\x00NaInf', max_size=12)


@settings(max_examples=400)
@given(
    content=st.one_of(
        st.binary(max_size=300),
        st.binary(max_size=200).map(lambda tail: b"PAR1" + tail),
        st.binary(max_size=60).map(lambda noise: parquet_bytes(v=[1.0, 2.0])[:200] + noise),
        st.lists(st.lists(_CELL, min_size=1, max_size=4), max_size=8).map(
            lambda rows: "\n".join(";".join(row) for row in rows).encode()
        ),
        st.lists(_CELL, max_size=8).map(lambda lines: "\n".join(lines).encode("utf-16")),
    )
)
def test_whatever_it_is_it_is_read_or_refused(content):
    try:
        file = DataFile(content, "fuzz")
        columns = file.columns
    except ValueError:
        return
    for name in columns:
        try:
            column = file.read(name)
        except ValueError:
            continue
        assert np.isfinite(column.values).all()
        assert column.values.size


@pytest.mark.parametrize(
    "content",
    [b"1 250 000\n50 000.50\nrefused\n", b'"1,250,000";7\xe2\x82\xac\n5;6\n', b"$1.250.000;Ada\n5;Bob\nnone;Eve\n"],
)
def test_one_text_among_the_numbers_makes_no_name_of_the_first(content):
    with pytest.raises(ValueError, match="say which") as refusal:
        DataFile(content)
    assert "250" not in str(refusal.value)


def test_damaged_utf_16_is_refused():
    with pytest.raises(ValueError, match="not UTF-16"):
        DataFile("income\n55000\n".encode("utf-16")[:-1])
    assert DataFile("income\n55000\n".encode("utf-32")).read("income").values.tolist() == [55000]


def test_decimal_commas_below_the_first_rows_count():
    content = b"a;b\n" + b"1.234;1\n" * 55 + b"1.234;7,5\n"
    with pytest.raises(ValueError, match="a decimal point or separate thousands"):
        DataFile(content).read("a")


def test_spaces_around_a_decimal_comma():
    with pytest.raises(ValueError, match="two numbers or one with a decimal comma"):
        DataFile(b"1,5\n 2,5 \n3,5\n")


def test_a_first_value_over_empty_cells_is_not_taken_for_a_name():
    content = "Ada,73 913\n" + "".join(f"p{'x' * k},\n" for k in range(49)) + "Cy,50000\n"
    with pytest.raises(UnclearFirstRowError, match="say which") as refusal:
        DataFile(content.encode())
    assert "913" not in str(refusal.value)


def test_a_first_row_with_a_word_of_those_below_is_a_persons():
    file = DataFile(b"Ada,diabetes,\nBob,diabetes,60\nCy,none,50\n")
    assert file.columns == ["column 1", "column 2", "column 3"]
    column = file.read("column 3")
    assert (column.values.tolist(), column.missing) == ([60, 50], 1)


@pytest.mark.parametrize(
    ("content", "column"),
    [
        (b"id;income\n1;1.234\n2;12.500\n3;950\n", "income"),
        (b"id;income\n1;1.234\n2;12.500\n", "income"),
        (b"id,income\n1,1.234\n2,12.500\n3,950\n", "income"),
        (b"x\n1.234\n2.500\n950\n", "x"),
    ],
)
def test_dots_that_may_separate_thousands_are_refused(content, column):
    with pytest.raises(ValueError, match=f"column '{column}' has numbers with a dot that may be a decimal point"):
        DataFile(content).read(column)


@pytest.mark.parametrize(
    ("content", "values"),
    [
        (b"x\n1.234\n2.500\n", [1.234, 2.5]),
        (b"a;b\n1;0.123\n2;1.250\n", [0.123, 1.25]),
        (b"a,b\n1,1.234\n2,2.500\n", [1.234, 2.5]),
        (b"a;b\n1;1.234\n2;12.5\n", [1.234, 12.5]),
    ],
)
def test_dots_that_are_decimal_points_are_read(content, values):
    file = DataFile(content)
    assert file.read(file.columns[-1]).values.tolist() == values
