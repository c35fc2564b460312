"""Random cost sheets: ``st.from_type(CostSheet)`` draws one."""

from hypothesis import strategies as st

from farthing.costs import CostSheet, Group

# Names that a file format could trip over are wanted, but no header has control characters or surrogates.
# Outer blanks are left out of the groups' names only, which CSV strips.
NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=8).filter(
    str.strip
)
# Powers of two within this range scale without underflow or overflow.
AMOUNTS = st.one_of(
    st.just(0.0),
    st.integers(0, 100_000).map(lambda cents: cents / 100),
    st.floats(2.0**-20, 2.0**20),
)


@st.composite
def cost_sheets(draw: st.DrawFn) -> CostSheet:
    names = draw(st.lists(NAMES, min_size=1, max_size=9, unique=True))
    group_names = draw(st.lists(NAMES.map(str.strip), max_size=3, unique=True))
    places = draw(st.lists(st.integers(-1, len(group_names) - 1), min_size=len(names), max_size=len(names)))
    groups = {}
    for place, group in enumerate(group_names):
        members = [name for name, its_place in zip(names, places, strict=True) if its_place == place]
        if members:
            groups[group] = Group(draw(AMOUNTS), members)
    return CostSheet(
        {name: draw(AMOUNTS) for name in names}, groups, draw(st.sampled_from(["", "USD", "ms"]))
    )


st.register_type_strategy(CostSheet, cost_sheets())
