"""Domains of projects and companies that people fetch well-known programs from; names below them are theirs too.

Only who publishes there alone belongs here: a place where anybody may leave a file says nothing of who left it.
"""

from __future__ import annotations

_DOMAINS = """
7-zip.org adobe.com adoptium.net amd.com android.com api.papermc.io apple.com me.com archlinux.org arduino.cc
audacityteam.org aws.amazon.com blender.org brave.com brew.sh calibre-ebook.com cloud.google.com cmake.org
code.visualstudio.com cran.r-project.org ctan.org dbeaver.io developer.nvidia.com docs.docker.com
download.microsoft.com desktop.docker.com docker.com dotnet.microsoft.com download.nvidia.com duckdb.org eclipse.org
elastic.co elixir-lang.org erlang.org espressif.com exiftool.org fabricmc.net fedoraproject.org ffmpeg.org figma.com
fill-data.papermc.io filezilla-project.org freecad.org gdal.org getpostman.com ghostscript.com gimp.org git-scm.com
gnome.org gnupg.org godotengine.org gradle.org grafana.com graphviz.org handbrake.fr haskell.org hashicorp.com
imagemagick.org influxdata.com inkscape.org intel.com java.com jdk.java.net jetbrains.com jenkins.io julialang.org
kde.org kicad.org kotlinlang.org learn.microsoft.com libreoffice.org llvm.org mariadb.org mathworks.com miktex.org
minecraft.net mojang.com mongodb.com mozilla.org mysql.com nmap.org notepad-plus-plus.org obsidian.md obsproject.com
openjdk.org openscad.org opera.com oracle.com osgeo.org pandoc.org perl.org php.net posit.co postgresql.org
postman.com powershellgallery.com prometheus.io python.org qgis.org qt.io r-project.org raspberrypi.com
raspberrypi.org redis.io rstudio.com ruby-lang.org rust-lang.org scala-lang.org signal.org sqlite.org
steampowered.com sublimetext.com swift.org texstudio.org tug.org ubuntu.com unity3d.com videolan.org virtualbox.org
visualstudio.microsoft.com vivaldi.com wireshark.org winscp.net xquartz.org ziglang.org zotero.org zoom.us
"""
PUBLISHERS = tuple(_DOMAINS.split())
