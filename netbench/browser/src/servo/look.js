const error = ERROR;
const text = document.body ? document.body.textContent : '';
return error === null ? { page: { bytes: new TextEncoder().encode(text).length } } : { error };
