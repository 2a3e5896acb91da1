"""The ways a file is looked at: as it stands, and as it reads when what hides it is taken away."""

from vskill_platform.scanning.tier1.views.raw import frontmatter_views as frontmatter_views
from vskill_platform.scanning.tier1.views.raw import raw_views as raw_views
from vskill_platform.scanning.tier1.views.view import LineIndex as LineIndex
from vskill_platform.scanning.tier1.views.view import View as View
from vskill_platform.scanning.tier1.views.view import ViewMaker as ViewMaker
