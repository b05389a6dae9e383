const [url, roots, seconds] = process.argv.slice(1);
const print = result => { console.log(JSON.stringify(result)); process.exit(0); };
const failed = error => print({ error: error.code ?? error.name, said: error.message, reason: error.reason });
try {
  const options = { ca: require('fs').readFileSync(roots), agent: false, timeout: seconds * 1000 };
  require('https').get(url, options, response => {
    let bytes = 0;
    response.on('data', data => { bytes += data.length; });
    response.on('error', failed);
    response.on('end', () => print({ status: response.statusCode, bytes }));
  }).on('error', failed);
} catch (error) { failed(error); }
