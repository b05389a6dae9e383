(() => {
  const paragraph = document.querySelector('body > p');
  const bytes = document.getElementById('bytes');
  const isCertificate = document.title === 'Certificate error' && bytes !== null && paragraph !== null;
  const isNetwork = document.title === 'Error loading page' && paragraph !== null;
  if (!isCertificate && !isNetwork) {
    return null;
  }
  const certificate = isCertificate && bytes.textContent !== '' ? bytes.textContent : null;
  const text = paragraph.textContent.replace('Could not load the requested page: ', '');
  return { text: `${document.title}: ${text}`, certificate };
})()
