import { defineController, HttpError, post, readJson } from 'portico'

export default defineController({
  // POST /api/count with a JSON body {"words": [...]}
  count: post(async (request, response) => {
    const { words } = Object(await readJson(request))
    if (!Array.isArray(words)) throw new HttpError(400, 'Expected "words" to be a list')
    return response.json({ count: words.length })
  }),
})
