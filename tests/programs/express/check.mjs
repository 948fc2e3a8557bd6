import assert from 'node:assert';
import express from 'express';

const app = express();
app.get('/trees/:name', (request, response) => response.json({ name: request.params.name }));
const server = app.listen(0, '127.0.0.1', async () => {
  const answer = await fetch(`http://127.0.0.1:${server.address().port}/trees/pear`);
  assert.deepStrictEqual(await answer.json(), { name: 'pear' });
  server.close();
});
