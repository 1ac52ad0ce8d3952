// The page is whole without this script. It adds the filter, the search, the
// order, copy buttons and the choice of light or dark.
"use strict";
(() => {
	const one = (selector, within = document) => within.querySelector(selector);
	const all = (selector, within = document) => [...within.querySelectorAll(selector)];

	// A link leads to what may be folded away.
	const reveal = () => {
		const target = /^#[a-z][a-z0-9-]*$/.test(location.hash) && one(location.hash);
		if (!target) return;
		for (let e = target; e; e = e.parentElement) if (e.localName === "details") e.open = true;
		target.scrollIntoView();
	};
	addEventListener("hashchange", reveal);

	// What is hovered in the picture says its name.
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

	// Commands get a button when their machine is opened first.
	const copy = async (button, code) => {
		let done = false;
		try {
			await navigator.clipboard.writeText(code.textContent);
			done = true;
		} catch {
			getSelection().selectAllChildren(code);
			done = document.execCommand("copy");
		}
		button.textContent = done ? "Copied" : "Selected: press Ctrl+C";
	};
	document.addEventListener("toggle", (event) => {
		for (const command of event.target.matches(".row") ? all(".command", event.target) : []) {
			if (one("button", command)) continue;
			const button = document.createElement("button");
			button.type = "button";
			button.textContent = "Copy";
			button.addEventListener("click", () => copy(button, one("code", command)));
			command.append(button);
		}
	}, true);

	// Paper shows everything, also in browsers that style sheets cannot tell so.
	let folded = [];
	addEventListener("beforeprint", () => {
		folded = all("details:not([open])");
		for (const d of folded) d.open = true;
	});
	addEventListener("afterprint", () => {
		for (const d of folded) d.open = false;
	});

	const controls = one("#controls");
	if (!controls) {
		reveal();
		return;
	}

	const shown = one("#shown");
	const rows = all(".row").map((element, index) => {
		const cluster = element.closest(".cluster");
		return {
			element, index, status: element.dataset.status, codes: element.dataset.reason.split(" ").filter(Boolean),
			cluster: cluster ? cluster.dataset.title : element.dataset.of, aside: "ignored" in element.dataset,
			name: one(".name", element).textContent, text: null,
		};
	});
	const cells = new Map(all(".cells a").map((cell) => [cell.hash.slice(1), cell]));
	for (const row of rows) row.cell = cells.get(one("[id]", row.element).id);
	const unlisted = one(".unlisted") !== null;
	const compare = new Intl.Collator("en", { numeric: true }).compare;

	const options = (select, values) => {
		for (const value of [...new Set(values)].filter(Boolean).sort(compare)) select.add(new Option(value, value));
	};
	options(one("#in"), rows.map((row) => row.cluster).concat(all(".cluster").map((c) => c.dataset.title)));
	options(one("#because"), rows.flatMap((row) => row.codes));

	const fits = (row, want) =>
		want.statuses.has(row.status) && (!want.cluster || row.cluster === want.cluster) &&
		(!want.reason || row.codes.includes(want.reason)) && (!want.aside || (want.aside === "only") === row.aside) &&
		want.words.every((word) => {
			row.text ??= (row.element.textContent + " " + row.cluster).toLowerCase();
			return row.text.includes(word);
		});

	const wanted = () => {
		const boxes = all('[name="status"]');
		const want = {
			statuses: new Set(boxes.filter((box) => box.checked).map((box) => box.value)), cluster: one("#in").value,
			reason: one("#because").value, aside: one("#aside").value, words: one("#find").value.toLowerCase().split(/\s+/).filter(Boolean),
		};
		want.all = boxes.every((box) => box.checked) && !want.cluster && !want.reason && !want.aside && want.words.length === 0;
		return want;
	};

	const filter = () => {
		const want = wanted();
		let left = 0;
		const busy = new Set();
		for (const row of rows) {
			const fit = fits(row, want);
			row.element.hidden = !fit;
			row.cell?.classList.toggle("off", !fit);
			if (!fit) continue;
			left++;
			for (let e = row.element.parentElement; e; e = e.parentElement) busy.add(e);
		}
		for (const e of all(".rows, .rest, .group, .cluster, #vms")) {
			if (one(".row", e) || !want.all) e.hidden = !want.all && !busy.has(e);
		}
		for (const e of all(".rest")) e.open = !want.all && busy.has(e);
		for (const e of all(".cluster")) if (!want.all && busy.has(e)) e.open = true;
		shown.classList.toggle("some", !want.all);
		shown.textContent = (want.all ? `${rows.length} machines and VMs are listed.` : `The filter shows ${left} of ${rows.length} machines and VMs.`) +
			(unlisted ? " Healthy machines that the report leaves out are counted and not listed." : "");
	};

	const keys = {
		"": (row) => row.index,
		name: (row) => row.name,
		reason: (row) => row.codes.join(" ") || "\uffff",
	};
	const order = () => {
		const key = keys[one("#order").value];
		const sorted = [...rows].sort((a, b) => (typeof key(a) === "number" ? key(a) - key(b) : compare(key(a), key(b))) || a.index - b.index);
		for (const row of sorted) row.element.parentElement.append(row.element);
		const by = one("#order").value === "name" ? (c) => c.title : null;
		const list = [...clusters].sort((a, b) => (by ? compare(by(a), by(b)) : 0) || a.index - b.index);
		for (const c of list) c.element.parentElement.append(c.element);
	};
	const clusters = all(".cluster").map((element, index) => ({ element, index, title: element.dataset.title }));

	const unfold = one("#unfold");
	unfold.addEventListener("click", () => {
		const open = unfold.textContent === "Open all";
		for (const d of all("main details")) if (!d.closest("[hidden]")) d.open = open;
		unfold.textContent = open ? "Close all" : "Open all";
	});
	one("#reset").addEventListener("click", () => {
		for (const box of all('[name="status"]')) box.checked = true;
		for (const e of all("#in, #because, #aside, #find")) e.value = "";
		filter();
	});
	controls.addEventListener("input", (event) => (event.target.id === "order" ? order() : filter()));
	// A link to what the filter hides ends the filter.
	addEventListener("click", (event) => {
		const link = event.target.closest?.('a[href^="#"]');
		const target = link && document.getElementById(link.hash.slice(1));
		if (target?.closest("[hidden]")) one("#reset").click();
	}, true);

	controls.hidden = false;
	filter();
	reveal();
})();
