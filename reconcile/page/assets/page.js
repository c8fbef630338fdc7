// Keeps a page up to date: when the daemon says that something has changed, it gets the same
// page again and puts its content in the place of the old one. Pages work without it.
"use strict";
(() => {
	const state = document.getElementById("live");
	const button = document.getElementById("pause");
	if (!window.EventSource || !state || !button || !document.getElementById("main").dataset.version) return;

	const pause = 2000; // between two reads of the page, in milliseconds
	let paused = false;
	let connected = false;
	let stale = false; // something has changed since the page was read
	let reading = false;
	let readAt = Date.now();
	let wait = pause; // longer after each read that fails
	let timer = 0;
	let sent = -Infinity; // when a form was sent

	function say(text, kind) {
		if (state.textContent !== text) state.textContent = text; // a reader of the screen says it once
		state.className = "live " + kind;
	}

	function show() {
		if (paused) say("Paused", "paused");
		else if (!connected) say("Not up to date: no connection", "lost");
		else say("Live", "");
		button.textContent = paused ? "Resume updates" : "Pause updates";
	}

	// busy reports whether a change of the page would take something from a person: what they
	// write in a form, or a text that they have selected. While a form is sent, what it has changed
	// is in its answer, which does not come if a person stops it.
	function busy(main) {
		if (Date.now() - sent < 60000) return true;
		const at = document.activeElement;
		if (at && main.contains(at) && at.matches("input:not([type=checkbox]), textarea, select")) return true;
		for (const field of main.querySelectorAll("input, textarea, select")) {
			if (field.type === "checkbox" && field.checked !== field.defaultChecked) return true;
			if (field.options && field.selectedIndex !== Math.max(0, [...field.options].findIndex((o) => o.defaultSelected))) return true;
			if (field.defaultValue !== undefined && field.value !== field.defaultValue) return true;
		}
		const selection = window.getSelection();
		return Boolean(selection && !selection.isCollapsed && main.contains(selection.anchorNode));
	}

	// alike is the element of another content that has the place of an element: the same id,
	// or the same address, or else the same number among those of its kind.
	function alike(element, from, to) {
		if (element.id) return to.querySelector("#" + CSS.escape(element.id));
		const kind = element.localName;
		const all = [...from.querySelectorAll(kind)];
		const others = [...to.querySelectorAll(kind)];
		const href = element.getAttribute("href");
		if (href !== null) return others.find((o) => o.getAttribute("href") === href);
		return others[all.indexOf(element)];
	}

	async function replace(fresh) {
		const main = document.querySelector("main");
		for (const open of main.querySelectorAll("details[open]")) {
			const other = alike(open, main, fresh);
			if (other) other.open = true;
		}
		// A picture that is there already is not taken away until the new one can be shown.
		const seen = [...fresh.querySelectorAll("img")].filter((i) => i.loading !== "lazy" || getComputedStyle(alike(i, main, fresh) || i).display !== "none");
		await Promise.all(seen.map((image) => {
			image.loading = "eager";
			return image.decode().catch(() => {});
		}));
		if (busy(main)) return false;
		const x = window.scrollX, y = window.scrollY;
		const sides = [...main.querySelectorAll(".scroll")].map((box) => box.scrollLeft);
		const at = document.activeElement;
		const next = at && at !== main && main.contains(at) ? alike(at, main, fresh) : null;
		const inMain = at === main;
		main.replaceWith(fresh);
		[...fresh.querySelectorAll(".scroll")].forEach((box, i) => { box.scrollLeft = sides[i] || 0; });
		if (next) next.focus({preventScroll: true});
		else if (inMain) fresh.focus({preventScroll: true});
		window.scrollTo(x, y);
		return true;
	}

	async function read() {
		timer = 0;
		if (paused || reading || document.hidden || !stale) return;
		if (busy(document.querySelector("main"))) {
			say("Not updated while a form or a text is in use", "paused");
			readAt = Date.now();
			return plan();
		}
		reading = true;
		readAt = Date.now();
		stale = false;
		try {
			const answer = await fetch(location.href, {headers: {Accept: "text/html"}, redirect: "error", cache: "no-store"});
			const other = new DOMParser().parseFromString(await answer.text(), "text/html");
			const fresh = other.querySelector("main");
			if (answer.status >= 500 || !fresh) throw new Error(answer.status);
			if (await replace(document.importNode(fresh, true))) document.title = other.title;
			else stale = true;
			wait = pause;
			show();
		} catch {
			stale = true;
			wait = Math.min(2 * wait, 60000);
			say("Not up to date: reading failed", "lost");
		}
		reading = false;
		plan();
	}

	function plan() {
		if (!timer && stale && !paused) timer = setTimeout(read, Math.max(100, readAt + wait - Date.now()));
	}

	// The first event of a stream says how it is: a page that is of that version needs no read.
	function changed(event) {
		if (String(JSON.parse(event.data).version) === document.querySelector("main").dataset.version) return;
		stale = true;
		plan();
	}

	function connect() {
		const events = new EventSource("/events");
		events.addEventListener("changed", changed);
		events.addEventListener("open", () => {
			connected = true;
			show();
		});
		events.addEventListener("error", () => {
			connected = false;
			show();
			if (events.readyState === EventSource.CLOSED) setTimeout(connect, 10000); // else the browser does
		});
	}

	document.addEventListener("visibilitychange", plan);
	document.addEventListener("submit", () => { sent = Date.now(); });
	window.addEventListener("pageshow", () => { sent = -Infinity; }); // a person has come back to it
	button.addEventListener("click", () => {
		paused = !paused;
		show();
		plan();
	});
	state.hidden = button.hidden = false;
	say("Connecting", "paused");
	connect();
})();
