"""The larger tables that `load_table` knows by name: where to fetch them and how they are split."""

from __future__ import annotations

from dataclasses import dataclass

UCI = "UCI Machine Learning Repository"
CC_BY = "CC BY 4.0"


@dataclass(frozen=True)
class Entry:
    """A table that `load_table` knows by name.

    Attributes
    ----------
    description, source, licence, citation : str
        What the table is, who published it, on what terms, and how to cite it.
    openml : (int, str) or None
        Its id and name on OpenML; None if it is not there.
    parts : tuple of (str, int)
        The published split as consecutive runs of rows, in the order of the rows on OpenML.
    train_counts : tuple of int
        Rows of each class in the training part, smallest first. A copy with another order of rows does not
        have these counts, and so gets no split.
    """

    description: str
    citation: str
    source: str = UCI
    licence: str = CC_BY
    openml: tuple[int, str] | None = None
    parts: tuple[tuple[str, int], ...] = ()
    train_counts: tuple[int, ...] = ()


CATALOGUE = {
    "adult": Entry(
        description="People in the census of 1994: an income above 50,000 dollars?",
        citation=f"B. Becker, R. Kohavi (1996), Adult, {UCI}.",
        openml=(1590, "adult"),
        # OpenML's copy opens with the official test rows.
        parts=(("test", 16281), ("train", 32561)),
        train_counts=(7841, 24720),
    ),
    "boston_housing": Entry(
        description="Median house values in Boston by town, 1970; one column, b, encodes race.",
        citation=(
            "D. Harrison, D. L. Rubinfeld (1978), Hedonic housing prices and the demand for clean air, "
            "Journal of Environmental Economics and Management 5, 81-102."
        ),
        source="StatLib",
        licence="public",
        openml=(531, "boston"),
    ),
    "breast_cancer_original": Entry(
        description="Breast masses under the microscope: benign or malignant?",
        citation=f"W. Wolberg (1990), Breast Cancer Wisconsin (Original), {UCI}.",
        openml=(15, "breast-w"),
    ),
    "breast_cancer_wdbc": Entry(
        description="Cell nuclei of breast masses, measured in images: benign or malignant?",
        citation=(
            "W. Wolberg, O. Mangasarian, N. Street, W. Street (1993), Breast Cancer Wisconsin (Diagnostic), "
            f"{UCI}."
        ),
        openml=(1510, "wdbc"),
    ),
    "covtype": Entry(
        description="Cells of 30 by 30 metres of four wilderness areas: which trees cover them?",
        citation=f"J. Blackard (1998), Covertype, {UCI}.",
        openml=(1596, "covertype"),
        parts=(("train", 11340), ("validation", 3780), ("test", 565892)),
        train_counts=(1620,) * 7,
    ),
    "dna": Entry(
        description="Stretches of DNA as 180 indicators: an exon-intron border, the reverse, or neither?",
        citation=f"Molecular Biology (Splice-junction Gene Sequences) (1991), {UCI}; coding of Statlog.",
        openml=(40670, "dna"),
        parts=(("train", 2000), ("test", 1186)),
        train_counts=(464, 485, 1051),
    ),
    "ecoli": Entry(
        description="Proteins of Escherichia coli: where in the cell do they sit?",
        citation=f"K. Nakai (1996), Ecoli, {UCI}.",
        openml=(39, "ecoli"),
    ),
    "house_votes_84": Entry(
        description="Sixteen votes of the members of the US House in 1984: Democrat or Republican?",
        citation=f"Congressional Voting Records (1987), {UCI}.",
        openml=(56, "vote"),
    ),
    "ionosphere": Entry(
        description="Radar returns from the ionosphere: good or bad?",
        citation=f"V. Sigillito, S. Wing, L. Hutton, K. Baker (1989), Ionosphere, {UCI}.",
        openml=(59, "ionosphere"),
    ),
    "letter": Entry(
        description="Distorted capital letters in 20 fonts, as 16 measures of their pixels: which letter?",
        citation=f"D. Slate (1991), Letter Recognition, {UCI}.",
        openml=(6, "letter"),
        parts=(("train", 16000), ("test", 4000)),
        train_counts=(
            *(576, 583, 587, 590, 593, 594, 597, 599, 604, 609, 613, 614, 615),
            *(616, 617, 622, 628, 628, 630, 633, 635, 638, 641, 645, 645, 648),
        ),
    ),
    "lightgbm_lambdarank": Entry(
        description="Documents for 251 queries, graded 0 to 4: LightGBM's example of learning to rank.",
        citation="The LightGBM developers, examples/lambdarank.",
        source="LightGBM",
        licence="MIT (the repository's; the origin of the data is not documented)",
    ),
    "miniboone": Entry(
        description="Particles seen by the MiniBooNE experiment: electron neutrino or muon neutrino?",
        citation=f"B. Roe (2005), MiniBooNE particle identification, {UCI}.",
        openml=(41150, "MiniBooNE"),
    ),
    "miniboone_tiny": Entry(
        description="A balanced sample of 5000 rows of MiniBooNE; -999 marks bad values.",
        citation=(
            f"B. Roe (2005), MiniBooNE particle identification, {UCI}; the sample that F. Nan, J. Wang and "
            "V. Saligrama ship with BudgetRF."
        ),
    ),
    "mnist": Entry(
        description="Handwritten digits of 28 by 28 pixels: which digit?",
        citation="Y. LeCun, C. Cortes, C. J. C. Burges, The MNIST database of handwritten digits.",
        source="LeCun, Cortes, Burges",
        licence="CC BY-SA 3.0",
        openml=(554, "mnist_784"),
        parts=(("train", 60000), ("test", 10000)),
        train_counts=(5421, 5842, 5851, 5918, 5923, 5949, 5958, 6131, 6265, 6742),
    ),
    "mslr_fold1_10k": Entry(
        description="Web pages for 86 queries, graded 0 to 4: the first rows of fold 1 of MSLR-WEB.",
        citation="T. Qin, T.-Y. Liu (2013), Introducing LETOR 4.0 datasets.",
        source="Microsoft Research",
        licence="Microsoft Research licence, research use only",
    ),
    "satellite": Entry(
        # OpenML's copy lacks a few rows, so the official split cannot be recovered.
        description="Pixels of a Landsat image and their neighbours in four bands: what grows there?",
        citation=f"A. Srinivasan (1993), Statlog (Landsat Satellite), {UCI}.",
        openml=(182, "satimage"),
    ),
    "sonar": Entry(
        description="Sonar echoes in 60 bands: a mine (M) or a rock (R)?",
        citation=f"T. Sejnowski, R. Gorman (1988), Connectionist Bench (Sonar, Mines vs. Rocks), {UCI}.",
        openml=(40, "sonar"),
    ),
    "splice": Entry(
        description="Stretches of DNA as 60 letters: an exon-intron border, the reverse, or neither?",
        citation=f"Molecular Biology (Splice-junction Gene Sequences) (1991), {UCI}.",
        openml=(46, "splice"),
    ),
}

# Tables of the folder that come with the package, with their own loaders.
BUNDLED = {
    "heart_cleveland": "load_heart_disease",
    "heart_disease": "load_heart_disease",
    "pima_diabetes": "load_pima_diabetes",
    "pima_diabetes_na": "load_pima_diabetes",
    "hepatitis": "load_hepatitis",
    "bupa_liver": "load_bupa_liver",
    "thyroid": "load_thyroid",
    "thyroid_ann": "load_thyroid",
}
