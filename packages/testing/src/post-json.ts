import { Agent, request } from 'node:http'

const agent = new Agent({ keepAlive: true })

/** Sends JSON to a local node and returns the text of its response, in less processor time than `fetch`. */
export const postJson = (url: string, body: string | Buffer): Promise<string> =>
  new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const outgoing = request(url, { method: 'POST', agent, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => resolve(Buffer.concat(chunks).toString()))
      response.on('error', reject)
    })
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      // The server closed an idle connection, and did not read the request.
      if (outgoing.reusedSocket && error.code === 'ECONNRESET') postJson(url, body).then(resolve, reject)
      else reject(error)
    })
    outgoing.end(body)
  })
