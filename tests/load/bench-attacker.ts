/** Repeats one request over one connection until it is told to stop, then prints how many were rejected. */
const { url, body, headers } = JSON.parse(process.argv[2] ?? '{}') as {
  readonly url: string
  readonly body?: string
  readonly headers: Readonly<Record<string, string>>
}

let isOver = false
let rejected = 0
process.once('SIGTERM', () => {
  isOver = true
})
console.log('attacking')
while (!isOver) {
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers,
    ...(body !== undefined && { body }),
  })
  await response.arrayBuffer()
  if (response.status !== 200) rejected++
}
console.log(rejected)
