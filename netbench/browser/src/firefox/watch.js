const seen = globalThis.netbenchSeen = [];
const watch = subject => {
  let channel;
  try { channel = subject.QueryInterface(Ci.nsIHttpChannel); } catch (error) { return; }
  if (!channel.isMainDocumentChannel) { return; }
  const page = { status: 0, headers: {}, result: "" };
  const set = (name, get) => { try { page[name] = get(); } catch (error) { /* It is not known. */ } };
  set("result", () => Object.keys(Cr).find(name => Cr[name] === channel.status) ?? "");
  set("status", () => channel.responseStatus);
  try { channel.visitResponseHeaders((name, value) => { page.headers[name] = value; }); } catch (error) { /* There are none. */ }
  const info = channel.securityInfo;
  if (info) {
    set("version", () => info.protocolVersion);
    set("cipher", () => info.cipherName);
    set("group", () => info.keaGroupName);
    set("signature", () => info.signatureSchemeName);
    set("alpn", () => info.negotiatedNPN);
    set("ech", () => info.isAcceptedEch);
    set("resumed", () => info.resumed);
    set("code", () => info.errorCodeString);
  }
  seen.push(page);
};
for (const topic of ["http-on-examine-response", "http-on-stop-request"]) { Services.obs.addObserver(watch, topic); }
return true;
