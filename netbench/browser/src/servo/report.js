const error = ERROR;
if (error !== null) {
  return { error };
}
const [own] = performance.getEntriesByType('navigation');
const ask = async url => {
  const response = await fetch(url, { cache: 'no-store' });
  const body = await response.arrayBuffer();
  return { status: response.status, headers: Object.fromEntries(response.headers), bytes: body.byteLength };
};
const again = await ask(location.href);
const objects = performance.getEntriesByType('resource')
  .filter(entry => [...document.images].some(image => image.src === entry.name))
  .map(entry => {
    const image = [...document.images].find(image => image.src === entry.name);
    const isWhole = image.complete && image.naturalWidth > 0;
    return { responseEnd: entry.responseEnd, url: entry.name, isWhole };
  });
const { secureConnectionStart, responseEnd, loadEventStart, domComplete } = own;
return {
  page: {
    again, objects, timeOrigin: performance.timeOrigin, secureConnectionStart, responseEnd,
    loadEventStart: loadEventStart || domComplete,
  },
};
