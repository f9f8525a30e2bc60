"""Reads reports from mails."""

import io
import re
from email.message import EmailMessage

from PIL import Image


def page_of(mail: EmailMessage) -> Image.Image:
    """Returns the picture on the only page of the attached PDF, which Superset creates from a JPEG."""
    (pdf,) = [part for part in mail.walk() if (part.get_filename() or "").endswith(".pdf")]
    content = pdf.get_payload(decode=True)
    assert content.startswith(b"%PDF"), content[:20]
    assert len(re.findall(rb"/Type /Page\b", content)) == 1
    begin = content.index(b"\xff\xd8\xff")
    return Image.open(io.BytesIO(content[begin : content.rindex(b"\xff\xd9") + 2]))
