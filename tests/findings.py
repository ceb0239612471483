"""What a page must not do: report an error, or ask another host for anything."""


class Findings:
    """Collects both from the pages it watches."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.hosts: set[str] = set()

    def watch(self, page):
        page.on("console", lambda message: self.problems.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("request", lambda request: self.hosts.add(request.url.split("/")[2]) if "://" in request.url else None)
        return page

    def check(self, address: str) -> None:
        assert not self.problems, self.problems
        assert self.hosts == {address.split("/")[2]}, self.hosts
