// The page is whole without this script. It adds the filter, the search, the
// order, copy buttons and the choice of light or dark. What is folded is text in
// noscript elements until it is opened: a large fleet would be too many elements.
"use strict";
(() => {
	const one = (selector, within = document) => within.querySelector(selector);
	const all = (selector, within = document) => [...within.querySelectorAll(selector)];
	const small = document.body.classList.contains("small"); // cells, so that the fleet is large

	// unpack makes elements of what is folded in a details element; it returns the
	// text that was there, if any.
	const unpack = (details) => {
		const packed = [...details.children].find((e) => e.localName === "noscript");
		if (!packed) return null;
		const template = document.createElement("template");
		template.innerHTML = packed.textContent; // of the page itself, with all names escaped
		packed.replaceWith(template.content);
		return packed.textContent;
	};

	// Cells of the picture are one stop of the keyboard; arrow keys go on from there.
	const cells = all(".cells a");
	cells.forEach((cell, index) => { if (index > 0) cell.tabIndex = -1; });
	addEventListener("keydown", (event) => {
		const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
		const next = step && event.target.matches?.(".cells a") && cells[cells.indexOf(event.target) + step];
		if (!next) return;
		event.preventDefault();
		event.target.tabIndex = -1;
		next.tabIndex = 0;
		next.focus();
	});
	addEventListener("pointerover", (event) => {
		const cell = event.target.closest?.(".cells a");
		if (cell) cell.title = cell.getAttribute("aria-label");
	});

	const scheme = one("#scheme");
	const dark = () => {
		const chosen = document.documentElement.dataset.scheme;
		return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
	};
	const offer = () => { scheme.textContent = dark() ? "Light" : "Dark"; };
	scheme.addEventListener("click", () => {
		document.documentElement.dataset.scheme = dark() ? "light" : "dark";
		offer();
	});
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", offer);
	offer();
	scheme.hidden = false;

	// Commands, ids and paths get a button when what they are in is opened first.
	const copy = async (button, from, text) => {
		let done = false;
		try {
			await navigator.clipboard.writeText(text);
			done = true;
		} catch {
			const range = document.createRange();
			range.selectNodeContents(from);
			if (button.parentElement === from) range.setEndBefore(button);
			getSelection().removeAllRanges();
			getSelection().addRange(range);
			done = document.execCommand("copy");
		}
		button.textContent = done ? "Copied" : "Selected: press Ctrl+C";
	};
	const offerCopies = (details) => {
		for (const e of all(".command, .copy", details)) {
			if (e.closest("details") !== details || one("button", e)) continue;
			const from = one("code", e) ?? e;
			const text = from.textContent;
			const button = document.createElement("button");
			button.type = "button";
			button.textContent = "Copy";
			if (from === e) button.setAttribute("aria-label", `Copy ${text}`);
			button.addEventListener("click", () => copy(button, from, text));
			e.append(button);
		}
	};

	// Clusters, and the machines and VMs of each. What a filter needs of a machine is
	// read from the text, so that no machine has to be built for it.
	const clusters = all(".cluster").map((element, index) => ({ element, index, title: element.dataset.title, packed: one("noscript", element), rows: null, built: false }));
	const cellOf = new Map(cells.map((cell) => [cell.hash.slice(1), cell]));
	const names = { lt: "<", gt: ">", amp: "&", quot: '"' };
	const plain = (markup) => markup.replace(/<[^>]*>/g, " ").replace(/&(?:#(\d+)|(\w+));/g, (_, code, name) => (code ? String.fromCodePoint(code) : names[name] ?? ""));
	const read = (cluster) => {
		if (cluster.rows) return;
		cluster.rows = cluster.packed.textContent.split('<details class="row" ').slice(1).map((text, index) => {
			const row = text.slice(0, text.indexOf("</details>"));
			const [, status, codes, aside, id] = row.match(/^data-status="([^"]*)" data-reason="([^"]*)"( data-ignored)?[^]*? id="(m[\d-]+)"/);
			return {
				index, id, status, codes: codes.split(" ").filter(Boolean), aside: aside !== undefined, of: [cluster.title], fit: true, off: false,
				cell: cellOf.get(id), text: plain(row.slice(row.indexOf(">") + 1) + " " + cluster.title).toLowerCase(), name: plain(row.match(/<bdi class="name">(.*?)<\/bdi>/s)[1]),
			};
		});
	};
	const build = (cluster) => {
		if (cluster.built) return;
		read(cluster);
		cluster.built = true;
		unpack(cluster.element);
		all(".row", cluster.element).forEach((element, index) => { cluster.rows[index].element = element; });
		if (one("#order").value) sort(cluster.rows);
		show(cluster);
	};
	const vms = all("#vms .row").map((element, index) => ({
		element, index, id: element.dataset.at, status: element.dataset.status, codes: element.dataset.reason.split(" ").filter(Boolean),
		of: element.dataset.of.split("\n").filter(Boolean), aside: "ignored" in element.dataset, name: one(".name", element).textContent, fit: true,
		text: (one("summary", element).textContent + " " + plain(one("noscript", element)?.textContent ?? "") + " " + element.dataset.of).toLowerCase(),
	}));

	document.addEventListener("toggle", (event) => {
		const details = event.target;
		if (!details.open) return;
		if (details.matches(".cluster")) return build(clusters.find((c) => c.element === details));
		unpack(details);
		offerCopies(details);
	}, true);

	// target finds the element of an id, and builds what it is in.
	const target = (hash) => {
		if (!/^#[a-z][a-z0-9-]*$/.test(hash)) return null;
		const [, inside] = hash.match(/^#[ms](\d+)-/) ?? [];
		const cluster = inside && clusters.find((c) => c.element.dataset.index === inside);
		if (cluster) build(cluster);
		else if (hash.startsWith("#step-")) unpack(one("#runbook"));
		else for (const row of all(`[data-at="${hash.slice(1)}"]`)) unpack(row);
		return one(hash);
	};
	const reveal = () => {
		const found = target(location.hash);
		if (!found) return;
		for (let e = found; e; e = e.parentElement) if (e.localName === "details") e.open = true;
		found.scrollIntoView();
	};
	addEventListener("hashchange", reveal);
	// A link to what is not built, or is hidden by the filter, leads there all the same.
	addEventListener("click", (event) => {
		const link = event.target.closest?.('a[href^="#"]');
		const found = link && target(link.hash);
		if (found?.closest("[hidden]") && !found.closest("#controls")) one("#reset").click();
	}, true);

	// Paper shows what there is to say, and of a large fleet what is open; style sheets
	// of some browsers cannot open what is folded.
	let folded = [];
	const unpackAll = () => {
		if (small) return;
		for (const c of clusters) if (c.element.open) build(c);
		for (const d of all("main details:has(> noscript):not(.cluster)")) unpack(d);
	};
	addEventListener("beforeprint", () => {
		unpackAll();
		folded = small ? [] : all("main :is(.row, .check, #variables, #runbook, .step):not([open], .rest *)");
		for (const d of folded) d.open = true;
	});
	addEventListener("afterprint", () => {
		for (const d of folded) d.open = false;
	});
	matchMedia("print").addEventListener("change", (event) => { if (event.matches) unpackAll(); });

	const asked = () => {
		const boxes = all('[name="status"]');
		const want = {
			statuses: new Set(boxes.filter((box) => box.checked).map((box) => box.value)), cluster: one("#in").value,
			reason: one("#because").value, aside: one("#aside").value, words: one("#find").value.toLowerCase().split(/\s+/).filter(Boolean),
		};
		want.all = boxes.every((box) => box.checked) && !want.cluster && !want.reason && !want.aside && want.words.length === 0;
		return want;
	};
	const matches = (row, want) =>
		want.statuses.has(row.status) && (!want.cluster || row.of.includes(want.cluster)) &&
		(!want.reason || row.codes.includes(want.reason)) && (!want.aside || (want.aside === "only") === row.aside) &&
		want.words.every((word) => row.text.includes(word));

	// show hides what the filter leaves out of a cluster that is built.
	let filtered = false;
	const show = (cluster) => {
		if (!cluster.built) return;
		for (const row of cluster.rows) row.element.hidden = !row.fit;
		for (const rows of all(".rows", cluster.element)) {
			const n = [...rows.children].filter((e) => !e.hidden).length;
			rows.hidden = filtered && n === 0;
			const rest = rows.closest(".rest");
			if (!rest) continue;
			rest.hidden = rows.hidden;
			rest.open = filtered && n > 0;
			one(".n", rest).textContent = n < rows.children.length ? `${n} of ${rows.children.length}` : n;
		}
		for (const group of all(".group", cluster.element)) group.hidden = filtered && !one(".rows:not([hidden])", group);
	};

	// A filter opens clusters, the worst first, until so many machines are shown.
	const most = small ? 50 : Infinity;
	const mark = (row, want) => {
		row.fit = want.all || matches(row, want);
		if (row.cell && row.off === row.fit) row.cell.classList.toggle("off", (row.off = !row.fit));
		return row.fit ? 1 : 0;
	};
	const head = (id, n, of) => {
		const span = one(`#${id}-title span`);
		if (span) span.textContent = n < of ? `(${n} of ${of})` : `(${of})`;
	};
	const filter = () => {
		const want = asked();
		filtered = !want.all;
		let [left, shown, hidden] = [0, 0, 0];
		for (const c of inOrder) {
			read(c);
			let n = 0;
			for (const row of c.rows) n += mark(row, want);
			c.element.hidden = filtered && n === 0;
			if (!c.element.hidden) shown++;
			const open = filtered && n > 0 && left < most;
			if (filtered && n > 0 && !open) hidden++;
			left += n;
			if (open) build(c);
			if (open && !c.element.open) c.element.open = c.lent = true;
			if (!open && c.lent) c.element.open = c.lent = false;
			show(c);
		}
		let found = 0;
		for (const row of vms) {
			found += mark(row, want);
			row.element.hidden = !row.fit;
		}
		const section = one("#vms");
		if (section) section.hidden = filtered && found === 0;
		head("clusters", shown, clusters.length);
		head("vms", found, vms.length);
		say(left + found, hidden);
	};
	const total = cells.length + vms.length;
	const unlisted = one(".cells i") !== null;
	const say = (left, hidden) => {
		const shown = one("#shown");
		shown.classList.toggle("some", filtered);
		shown.textContent = (filtered ? `The filter shows ${left} of ${total} machines and VMs.` : `Machines and VMs listed: ${total}.`) +
			(hidden ? ` Folded clusters with some of them: ${hidden}.` : "") +
			(unlisted ? " Healthy machines that the report leaves out are counted and not listed." : "");
	};

	const compare = new Intl.Collator("en", { numeric: true }).compare;
	const keys = { name: (row) => row.name, reason: (row) => row.codes.join(" ") || "\uffff" };
	const sort = (rows) => {
		const key = keys[one("#order").value];
		const list = [...rows].sort((a, b) => (key ? compare(key(a), key(b)) : 0) || a.index - b.index);
		for (const row of list) row.element.parentElement.append(row.element);
	};
	let inOrder = clusters;
	const order = () => {
		for (const c of clusters) if (c.built) sort(c.rows);
		sort(vms);
		inOrder = [...clusters].sort((a, b) => (one("#order").value === "name" ? compare(a.title, b.title) : 0) || a.index - b.index);
		for (const c of inOrder) c.element.parentElement.append(c.element);
	};

	for (const c of clusters) if (c.element.open) build(c);
	const controls = one("#controls");
	if (!controls) {
		reveal();
		return;
	}
	for (const title of [...new Set(clusters.map((c) => c.title).concat(vms.flatMap((row) => row.of)))].filter(Boolean).sort(compare)) one("#in").add(new Option(title, title));

	const unfold = one("#unfold");
	unfold.addEventListener("click", () => {
		const open = unfold.textContent === "Open all";
		let n = 0;
		for (const c of inOrder) {
			if (c.element.hidden || !open || n >= most) continue;
			build(c);
			n += c.rows.length;
			c.element.open = true;
		}
		for (const d of all("main details:not(#more, #plan *)")) if (!d.closest("[hidden]") && !(open && d.matches(".cluster"))) d.open = open;
		unfold.textContent = open ? "Close all" : "Open all";
	});
	one("#reset").addEventListener("click", () => {
		for (const box of all('[name="status"]')) box.checked = true;
		for (const e of all("#in, #because, #aside, #find")) e.value = "";
		filter();
	});
	// A number of the answer shows the machines that it counts.
	for (const tile of all("[data-only]")) {
		tile.addEventListener("click", () => {
			one("#reset").click();
			for (const box of all('[name="status"]')) box.checked = box.value === tile.dataset.only;
			filter();
		});
	}
	controls.addEventListener("input", (event) => (event.target.id === "order" ? order() : filter()));

	addEventListener("keydown", (event) => {
		if (event.key !== "/" || event.ctrlKey || event.altKey || event.metaKey || event.target.matches?.("input, select, textarea")) return;
		event.preventDefault();
		one("#find").focus();
	});

	controls.hidden = false;
	one("#to-find").hidden = false;
	say(total, 0);
	reveal();
	// What the first search needs is read while nothing else is to be done.
	const pending = [...clusters];
	const ahead = (deadline) => {
		while (pending.length && deadline.timeRemaining() > 2) read(pending.pop());
		if (pending.length) requestIdleCallback(ahead);
	};
	if (window.requestIdleCallback) requestIdleCallback(ahead);
})();
