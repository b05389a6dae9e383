// Serves the sites of the file that the command line names.
'use strict';
const fs = require('fs');
const http2 = require('http2');
const https = require('https');

process.on('uncaughtException', (error) => {
  console.error(error.message);
  process.exit(1);
});

const { header, sites } = JSON.parse(fs.readFileSync(process.argv[2]));

// What OpenSSL tells of a connection. Node.js does not tell a server the group.
function view(socket) {
  const negotiated = {
    version: socket.getProtocol().replace('TLSv', ''),
    suite: socket.getCipher().standardName,
    alpn: socket.alpnProtocol || null,
    resumed: socket.isSessionReused(),
    chain_bytes: [],
  };
  return JSON.stringify({ negotiated, compute_ns: 0 });
}

for (const site of sites) {
  const page = fs.readFileSync(site.page);
  const answer = (request, response) => {
    // A stream of HTTP/2 shows its connection's socket through a proxy that has no methods of TLS sockets to call later.
    const socket = request.stream ? request.stream.session.socket : request.socket;
    const headers = { 'content-type': 'text/html', 'content-length': page.length };
    headers[header] = view(socket);
    response.writeHead(200, headers);
    response.end(page);
  };
  const server = site.http2
    ? http2.createSecureServer({ allowHTTP1: true, ...site.tls }, answer)
    : https.createServer(site.tls, answer);
  if (site.staple) {
    const staple = Buffer.from(site.staple, 'base64');
    server.on('OCSPRequest', (certificate, issuer, done) => done(null, staple));
  }
  server.listen(site.port, site.host);
}
