"""The ledger's prices of whole sets, against the sheet's own sums."""

from hypothesis import given
from hypothesis import strategies as st

from farthing.costs import CostSheet, RowLedger


@given(st.data())
def test_prices_of_sets_have_the_bits_of_the_sheet(data):
    sheet = data.draw(st.from_type(CostSheet))
    columns = st.sets(st.integers(0, len(sheet.features) - 1))
    known, bought, wanted = data.draw(columns), data.draw(columns), data.draw(columns)
    budget = data.draw(st.floats(0, 1.2)) * sheet.total(sheet.features)
    ledger = RowLedger(sheet, budget, known)
    for column in bought:
        if ledger.affords(column):
            ledger.buy(column)

    def names(some):
        return [sheet.features[column] for column in some]

    owned = [name for name, has in zip(sheet.features, ledger.owned, strict=True) if has]
    assert ledger.price_all(wanted) == sheet.total(names(wanted), owned=owned)
    paid = [name for name, has in zip(sheet.features, ledger.bought, strict=True) if has]
    due = sheet.total({*paid, *(set(names(wanted)) - set(names(known)))}, owned=names(known))
    assert ledger.affords_all(wanted) == (due <= ledger.limit or set(names(wanted)) <= set(owned))
    assert RowLedger(sheet).affords_all(wanted)
