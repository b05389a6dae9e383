const own = performance.getEntriesByType('navigation')[0];
const isPage = location.protocol === 'https:' && own && own.nextHopProtocol;
return {
  page: isPage ? { protocol: own.nextHopProtocol, bytes: own.decodedBodySize } : null,
  at: location.protocol,
  shown: document.body ? document.body.innerText : '',
};
