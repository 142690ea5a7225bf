// What the page asks the server for. An answer that refuses becomes an Error with the server's words.

/** @param {Response} answer @returns {Promise<any>} */
async function read(answer) {
  if (answer.ok) return answer.json();
  const words = await answer.json().catch(() => ({ error: `the studio answered ${answer.status}`, remedy: "" }));
  throw new Error([words.error, words.remedy].filter(Boolean).join(" "));
}

/** @param {string} address @returns {Promise<any>} */
export const get = async (address) => read(await fetch(address));

/** @param {string} address @param {object} body @returns {Promise<any>} */
export const post = async (address, body = {}) =>
  read(await fetch(address, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }));

/** Send a file as it is. @param {string} address @param {Blob} file @returns {Promise<any>} */
export const put = async (address, file) => read(await fetch(address, { method: "PUT", body: file }));
