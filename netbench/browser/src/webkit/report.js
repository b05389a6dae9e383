const done = arguments[0];
const own = performance.getEntriesByType('navigation')[0];
if (location.protocol !== 'https:' || !own || !own.nextHopProtocol) {
  done({ at: location.protocol, shown: document.body ? document.body.innerText : '' });
  return;
}
const page = { protocol: own.nextHopProtocol, timing: TIMING, status: 0, headers: {} };
const again = async number => {
  const url = location.origin + location.pathname + '?again=' + number;
  const response = await fetch(url, { cache: 'no-store' });
  const headers = Object.fromEntries(response.headers);
  await response.arrayBuffer();
  let entry;
  for (let tries = 0; !(entry = performance.getEntriesByName(url)[0]) && tries < 20; tries++) {
    await new Promise(later => setTimeout(later, 25));
  }
  const isThere = entry && entry.connectEnd <= entry.connectStart;
  if (isThere && !JSON.parse(headers['VIEW'] ?? '{}').negotiated?.resumed) {
    page.status = response.status;
    page.headers = headers;
  }
};
const all = numbers => Promise.allSettled(numbers.map(again));
all([0]).then(() => page.status || all([1, 2, 3, 4, 5, 6])).then(() => done({ page }));
