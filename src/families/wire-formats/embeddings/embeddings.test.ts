import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Asked, type Conversation, type TokenIds, type Unsupported } from '../../../core/translation.ts';
import { isJsonObject, parseJson, writeJson } from '../../../lib/json/json-text.ts';
import { at, countIn, listIn, objectIn } from '../reading.ts';
import { type EmbeddingWireFormat, translateEmbeddings } from './embeddings.ts';

/** A made-up service: `{"texts":[...]}` becomes `{"vectors":[...],"count":3}`. */
const wireFormat: EmbeddingWireFormat = {
  hasDimensions: true,
  own: ['truncate'],
  write: ({ items, dimensions, more }) => ({ body: { ...more, texts: items, width: dimensions } }),
  read: ({ body }) => ({
    vectors: listIn(objectIn(body, 'the answer').vectors, 'vectors'),
    promptTokens: countIn(at(body, 'count')),
    totalTokens: countIn(at(body, 'total')),
  }),
};

interface Settings {
  readonly wireFormat?: Partial<EmbeddingWireFormat>;
  readonly unsupported?: Unsupported;
  readonly tokenIds?: TokenIds;
  readonly publicModel?: string;
  readonly defaults?: string;
}

function askedFor(
  text: string,
  { unsupported, tokenIds = 'decode', publicModel = 'm', defaults = '{}' }: Settings = {},
): Asked {
  const body = parseJson(Buffer.from(text));
  const set = parseJson(Buffer.from(defaults));
  assert.ok(isJsonObject(body) && isJsonObject(set));
  return new Asked({
    body: { ...set, ...body },
    defaults: set,
    model: 'their-model',
    publicModel,
    shape: undefined,
    tokenIds,
    options: {},
    id: 'x',
    nowS: 0,
    unsupported,
    upstreamId: 'up',
  });
}

interface Talk {
  readonly asked: Asked;
  readonly conversation: Conversation;
  readonly written: readonly string[];
}

async function talk(text: string, settings: Settings = {}): Promise<Talk> {
  const asked = askedFor(text, settings);
  const conversation = await translateEmbeddings({ ...wireFormat, ...settings.wireFormat }).ask(asked);
  return { asked, conversation, written: conversation.requests.map(({ body }) => writeJson(body).toString()) };
}

/** The client's answer, where the service returns these to the calls. */
async function reply(text: string, answers: readonly string[], settings?: Settings) {
  const { conversation } = await talk(text, settings);
  const read = await conversation.read(
    answers.map((answer) => ({ body: parseJson(Buffer.from(answer)), headers: [] })),
  );
  return { ...read, text: writeJson(read.body).toString() };
}

const refused = (param: string, message = /./) => ({
  name: 'GatewayError',
  code: 'unsupported_parameter',
  param,
  message,
});
const unfit = (message: RegExp) => ({ name: 'Unfit', message });

describe('embedding inputs', () => {
  test('several inputs are sent in order, in one call', async () => {
    assert.deepEqual((await talk('{"input":["a","b","c"]}')).written, ['{"texts":["a","b","c"]}']);
  });

  test('a single text or token list is one input, and an empty list makes one call', async () => {
    for (const [text, isSingle, count] of [
      ['{"input":"a"}', true, 1],
      ['{"input":["a"]}', false, 1],
      ['{"input":[9906,1917]}', true, 1],
      ['{"input":[]}', false, 0],
    ] as const) {
      const seen: [boolean, number][] = [];
      const write: EmbeddingWireFormat['write'] = (call) => {
        seen.push([call.isSingle, call.items.length]);
        return { body: {} };
      };
      await talk(text, { wireFormat: { write } });
      assert.deepEqual(seen, [[isSingle, count]], text);
    }
  });

  test('inputs that are token IDs are decoded with the configured vocabulary or that of the model', async () => {
    assert.deepEqual((await talk('{"input":[9906,1917]}')).written, ['{"texts":["Hello world"]}']);
    assert.deepEqual((await talk('{"input":[[13225,2375],"x"]}', { tokenIds: 'o200k_base' })).written, [
      '{"texts":["Hello world","x"]}',
    ]);
    assert.deepEqual((await talk('{"input":[15496,995]}', { publicModel: 'text-similarity-ada-001' })).written, [
      '{"texts":["Hello world"]}',
    ]);
  });

  test('inputs that are token IDs of an unknown vocabulary are refused', async () => {
    for (const list of ['[9906,100256]', '[1.5]', '[-1]', '[1e99]', '[[1],[123456789]]']) {
      await assert.rejects(talk(`{"input":${list}}`), refused('input', /token IDs/), list);
    }
    await assert.rejects(talk('{"input":[1]}', { tokenIds: 'pass' }), refused('input', /token IDs/));
  });

  test('inputs that are token IDs are sent unchanged if the wire format takes them', async () => {
    const settings = { wireFormat: { takesTokens: () => true } };
    assert.deepEqual((await talk('{"input":[[1,2],"x",[3]]}', settings)).written, ['{"texts":[[1,2],"x",[3]]}']);
  });

  test('inputs that are not text are refused, unless the wire format takes objects', async () => {
    for (const input of ['{"text":"a"}', '[{"text":"a"}]', '["a",null]', '[["a"]]', '[[]]', '["a",1]', '7', 'true']) {
      await assert.rejects(talk(`{"input":${input}}`), refused('input', /text only/), input);
    }
    assert.deepEqual((await talk('{"input":[{"image":"b"},"a"]}', { wireFormat: { takes: 'objects' } })).written, [
      '{"texts":[{"image":"b"},"a"]}',
    ]);
    for (const input of ['["a",null]', '[[]]', '[["a"]]', '[1,2,"x"]', '[true]', '7']) {
      const why = refused('input', /texts and objects only/);
      await assert.rejects(talk(`{"input":${input}}`, { wireFormat: { takes: 'objects' } }), why, input);
      const { written } = await talk(`{"input":${input}}`, { wireFormat: { takes: 'anything' } });
      assert.deepEqual(written, [`{"texts":${input === '7' ? '[7]' : input}}`]);
    }
  });

  test('inputs are mandatory, and a conversation in their place is refused', async () => {
    await assert.rejects(talk('{}'), refused('input', /not there/));
    await assert.rejects(talk('{"messages":[{"role":"user","content":"a"}]}'), refused('messages', /conversation/));
    const settings = { wireFormat: { takesTokens: () => true, takes: 'anything' }, unsupported: 'drop' } as const;
    await assert.rejects(talk('{"messages":[]}', settings), refused('messages', /conversation/));
  });
});

describe('embedding parameters', () => {
  test("a parameter known to the wire format is sent under the wire format's name with its digits", async () => {
    assert.deepEqual((await talk('{"input":"a","dimensions":1.0e1,"truncate":"END"}')).written, [
      '{"truncate":"END","texts":["a"],"width":1.0e1}',
    ]);
  });

  test('a parameter unknown to the wire format is passed on, unless the wire format is strict', async () => {
    const text = '{"input":"a","unheard_of":{"a":[1.0]},"__proto__":2}';
    assert.deepEqual((await talk(text)).written, ['{"unheard_of":{"a":[1.0]},"__proto__":2,"texts":["a"]}']);
    const strict = { wireFormat: { isStrict: true } };
    await assert.rejects(talk(text, strict), refused('unheard_of'));
    await assert.rejects(talk('{"input":"a","__proto__":2}', strict), refused('__proto__'));
    const { asked, written } = await talk(text, { ...strict, unsupported: 'drop' });
    assert.deepEqual(written, ['{"texts":["a"]}']);
    assert.deepEqual([...asked.ignored], ['unheard_of', '__proto__']);
    assert.deepEqual((await talk('{"input":"a","truncate":"END"}', strict)).written, [
      '{"truncate":"END","texts":["a"]}',
    ]);
  });

  test('a parameter that only the operator may set is refused with the reason', async () => {
    const settings = { wireFormat: { cannot: { width: 'wants "dimensions" for it' } } };
    await assert.rejects(talk('{"input":"a","width":4}', settings), refused('width', /wants "dimensions" for it/));
  });

  test('dimensions are dropped and reported for a fixed-width model, or refused if so configured', async () => {
    const narrow = { wireFormat: { hasDimensions: false } };
    const text = '{"input":"a","dimensions":4}';
    for (const unsupported of [undefined, 'drop'] as const) {
      const { asked, written } = await talk(text, { ...narrow, unsupported });
      assert.deepEqual(written, ['{"texts":["a"]}']);
      assert.deepEqual([...asked.ignored], ['dimensions']);
    }
    await assert.rejects(talk(text, { ...narrow, unsupported: 'refuse' }), refused('dimensions'));
    const byModel = { wireFormat: { hasDimensions: ({ model }: Asked) => model === 'their-model' } };
    assert.deepEqual((await talk(text, byModel)).written, ['{"texts":["a"],"width":4}']);
    assert.deepEqual([...(await talk('{"input":"a"}', narrow)).asked.ignored], []);
  });

  test('dimensions may have several names, and the first of them that the client sent is used', async () => {
    const calls = async (text: string, defaults = '{}') => {
      const { asked, written } = await talk(text, { defaults });
      return [written.join(), ...asked.ignored];
    };
    const four = '{"texts":["a"],"width":4}';
    for (const name of ['output_dimension', 'outputDimensionality', 'output_dimensionality']) {
      assert.deepEqual(await calls(`{"input":"a","${name}":4}`), [four]);
      assert.deepEqual(await calls(`{"input":"a","${name}":2,"dimensions":4}`), [four, name]);
      assert.deepEqual(await calls('{"input":"a"}', `{"${name}":4}`), [four]);
      // The operator's value applies where the client sets none.
      assert.deepEqual(await calls(`{"input":"a","${name}":4}`, '{"dimensions":2}'), [four]);
      assert.deepEqual(await calls('{"input":"a","dimensions":4}', `{"${name}":2}`), [four]);
    }
    const both = { unsupported: 'refuse' } as const;
    await assert.rejects(
      talk('{"input":"a","dimensions":4,"output_dimension":2}', both),
      refused('output_dimension', /takes "dimensions"/),
    );
  });

  test('optional parameters such as truncate are dropped and reported unless supported, or refused if so configured', async () => {
    const text = '{"input":"a","truncate":"END","max_tokens_per_doc":9,"drop_params":true}';
    for (const isStrict of [false, true]) {
      const { asked, written } = await talk(text, { wireFormat: { isStrict } });
      assert.deepEqual(written, ['{"truncate":"END","texts":["a"]}']);
      assert.deepEqual([...asked.ignored], ['max_tokens_per_doc', 'drop_params']);
    }
    await assert.rejects(talk(text, { unsupported: 'refuse' }), refused('max_tokens_per_doc'));
  });

  test('the user parameter is dropped and reported unless the wire format supports it', async () => {
    const { asked, written } = await talk('{"input":"a","user":"u"}');
    assert.deepEqual(written, ['{"texts":["a"]}']);
    assert.deepEqual([...asked.ignored], ['user']);
    await assert.rejects(talk('{"input":"a","user":"u"}', { unsupported: 'refuse' }), refused('user'));
    assert.deepEqual((await talk('{"input":"a","user":"u"}', { wireFormat: { own: ['user'] } })).written, [
      '{"user":"u","texts":["a"]}',
    ]);
  });

  test('an encoding_format other than float and base64 is refused', async () => {
    for (const format of ['"int8"', '"base64 "', '64', '["base64"]', '{}']) {
      const text = `{"input":"a","encoding_format":${format}}`;
      await assert.rejects(talk(text), refused('encoding_format', /"float" or "base64"/), format);
      const { asked } = await talk(text, { unsupported: 'drop' });
      assert.deepEqual([...asked.ignored], ['encoding_format']);
    }
    for (const [format, ignored] of [
      ['Float', []],
      ['float32', []],
      ['', ['encoding_format']],
      ['none', ['encoding_format']],
    ] as const) {
      const { asked } = await talk(`{"input":"a","encoding_format":"${format}"}`);
      assert.deepEqual([...asked.ignored], ignored, format);
    }
  });
});

describe('embedding vectors', () => {
  const one = (vector: string, format = 'float') =>
    reply(`{"input":"a","encoding_format":"${format}"}`, [`{"vectors":[${vector}],"count":1}`]);
  const embedding = async (vector: string, format?: string): Promise<string> =>
    /"embedding":(.*?)\}\]/.exec((await one(vector, format)).text)?.[1] ?? '';

  test("vectors are returned in the client's order and in the OpenAI shape", async () => {
    const answers = ['{"vectors":[[1.0],[2e0],[3]],"count":7}'];
    const { text, usage, isEstimated } = await reply('{"input":["a","b","c"]}', answers);
    assert.equal(
      text,
      '{"id":"embd-x","object":"list","data":[{"object":"embedding","index":0,"embedding":[1.0]},{"object":"embedding","index":1,"embedding":[2e0]},{"object":"embedding","index":2,"embedding":[3]}],"model":"their-model","usage":{"prompt_tokens":7,"total_tokens":7}}',
    );
    assert.deepEqual(usage, { promptTokens: 7, completionTokens: null, totalTokens: 7, searchUnits: null });
    assert.equal(isEstimated, false);
  });

  test("vectors keep the upstream's digits if floats are requested", async () => {
    assert.equal(await embedding('[0.10,-0.0,1e-7,12345678901234567890]'), '[0.10,-0.0,1e-7,12345678901234567890]');
  });

  test('encoding_format is accepted in any case', async () => {
    for (const format of ['BASE64', 'Base64']) assert.equal(await embedding('[0.5,-1]', format), '"AAAAPwAAgL8="');
    assert.equal(await embedding('"AAAAPwAAgL8="', 'FLOAT'), '[0.5,-1]');
  });

  test('vectors requested as base64 become base64 of little-endian, rounded 32-bit floats', async () => {
    assert.equal(await embedding('[0.5,-1]', 'base64'), '"AAAAPwAAgL8="');
    assert.equal(await embedding('[-0.0,0]', 'base64'), '"AAAAgAAAAAA="');
    const values = [0.1, 1e-45, 1.4e-46, 3.4028234663852886e38, 3.4028235e38, -1 / 3, 16_777_217];
    const bits = Buffer.from(new Float32Array(values).buffer).toString('base64');
    assert.equal(await embedding(JSON.stringify(values), 'base64'), `"${bits}"`);
  });

  test('vectors with numbers outside the float32 range are refused', async () => {
    for (const number of ['3.5e38', '-1e39', '1e308']) {
      await assert.rejects(one(`[0,${number}]`, 'base64'), unfit(/no 32-bit float/), number);
    }
  });

  test('base64 vectors of an upstream become numbers that parse to the same bits', async () => {
    const floats = new Float32Array([0.1, -0, 1e-45, 3.4028234663852886e38, -1 / 3, 1, 1e21, 123456]);
    const text = await embedding(`"${Buffer.from(floats.buffer).toString('base64')}"`);
    const numbers: unknown = JSON.parse(text);
    assert.ok(Array.isArray(numbers));
    assert.deepEqual(new Float32Array(numbers), floats);
    assert.ok(text.startsWith('[0.10000000149011612,-0,'), text);
  });

  test('base64 vectors of an upstream stay unchanged if base64 is requested', async () => {
    assert.equal(await embedding('"AAAAPwAAgL8="', 'base64'), '"AAAAPwAAgL8="');
  });

  test('base64 vectors with NaN or infinity are refused in either format', async () => {
    // The largest float, and the smallest bits that are not a number.
    const good = Buffer.from('ffff7f7fffff7fff', 'hex').toString('base64');
    assert.equal(await embedding(`"${good}"`, 'base64'), `"${good}"`);
    for (const bits of ['0000803f0000807f', '000080ff', '0000c07f', '010080ff', 'ffffffff', '0000803fffffff7f']) {
      for (const format of ['float', 'base64']) {
        const vector = `"${Buffer.from(bits, 'hex').toString('base64')}"`;
        await assert.rejects(
          one(vector, format),
          unfit(/the vector of input 0 holds something that is no number/),
          bits,
        );
      }
    }
  });

  test('float vectors with infinite numbers are refused, and large finite ones stay unchanged', async () => {
    const nines = (count: number): string => '9'.repeat(count);
    for (const number of ['1e999', '-1E+999', '1e0000309', nines(310), `-${nines(301)}.5e9`]) {
      for (const vector of [`[${number}]`, `[0.1,${number},0.2]`, `[${'0.1,'.repeat(500)}${number}]`]) {
        await assert.rejects(one(vector), unfit(/something that is no number/), vector);
      }
    }
    for (const number of ['1e308', '1E+0010', '1e-999', nines(308), `0.${nines(400)}`, `${nines(299)}e9`]) {
      const vector = `[${'0.1,'.repeat(500)}${number},0.2 , ${' '.repeat(400)}3]`;
      assert.equal(await embedding(vector), vector, number);
    }
  });

  test('vectors are converted in slices that yield to the event loop', async () => {
    const width = 4_096;
    const vector = `[${Array.from({ length: width }, (_, index) => Math.sin(index))}]`;
    const inputs = Array.from({ length: 256 }, () => 'a');
    const text = JSON.stringify({ input: inputs, encoding_format: 'base64' });
    const { conversation } = await talk(text);
    const body = parseJson(Buffer.from(`{"vectors":[${inputs.map(() => vector)}],"count":1}`));
    let turns = 0;
    const beat = setInterval(() => {
      turns += 1;
    }, 0);
    await conversation.read([{ body, headers: [] }]);
    clearInterval(beat);
    assert.ok(turns >= 5, `${turns} turns`);
  });

  test('vectors are changed by the adapt function of the wire format, as floats or base64', async () => {
    const doubled: EmbeddingWireFormat['read'] = (answer, call) => ({
      ...wireFormat.read(answer, call),
      adapt: ([first = 0, ...others]) => (first === 0 ? undefined : [first, ...others].map((value) => value * 2)),
    });
    const adapted = async (vector: string, format: string): Promise<string> => {
      const answers = [`{"vectors":[${vector}],"count":1}`];
      const text = `{"input":"a","encoding_format":"${format}"}`;
      return (
        /"embedding":(.*?)\}\]/.exec((await reply(text, answers, { wireFormat: { read: doubled } })).text)?.[1] ?? ''
      );
    };
    for (const [vector, format, expected] of [
      ['[0.25,-0.50]', 'float', '[0.5,-1]'],
      ['[0.25,-0.50]', 'base64', '"AAAAPwAAgL8="'],
      ['"AACAPgAAAL8="', 'base64', '"AAAAPwAAgL8="'],
      ['"AACAPgAAAL8="', 'float', '[0.5,-1]'],
      ['[0.00,-0.50]', 'float', '[0.00,-0.50]'],
      ['[0.00,-0.50]', 'base64', '"AAAAAAAAAL8="'],
    ] as const) {
      assert.equal(await adapted(vector, format), expected, `${vector} ${format}`);
    }
  });

  test('vectors in truncated, misaligned or otherwise invalid base64 are refused', async () => {
    for (const text of ['', '=', 'AAAA', 'AAAAPwA=', 'AAAAPw', 'AAAAPw=', 'AAAAPw===', 'AAAAPw==\\n', ' AAAAPw==']) {
      for (const format of ['float', 'base64']) {
        await assert.rejects(one(`"${text}"`, format), unfit(/no base64 of 32-bit floats/), text);
      }
    }
    await assert.rejects(one('"AA-_PwA_gL8="'), unfit(/no base64/));
    await assert.rejects(one('"AAAAP=AA"'), unfit(/no base64/));
  });

  test('vectors that are empty or contain other values than numbers are refused', async () => {
    for (const vector of ['[]', 'null', '{}', 'true']) {
      await assert.rejects(one(vector), unfit(/the vector of input 0 holds no numbers/), vector);
    }
    for (const vector of ['[1,null]', '["1"]', '[[1,2]]', '[1,[2]]', '[true]']) {
      await assert.rejects(one(vector), unfit(/the vector of input 0 holds something other than numbers/), vector);
    }
  });

  test('a response needs as many vectors as its call has inputs', async () => {
    for (const [vectors, fact] of [
      ['[1]', /1 vectors for 2 inputs/],
      ['', /0 vectors for 2 inputs/],
      ['[1],[1],[1]', /3 vectors for 2 inputs/],
    ] as const) {
      await assert.rejects(reply('{"input":["a","b"]}', [`{"vectors":[${vectors}]}`]), unfit(fact));
    }
    assert.match((await reply('{"input":[]}', ['{"vectors":[],"count":0}'])).text, /"data":\[\]/);
    await assert.rejects(reply('{"input":[]}', ['{"vectors":[[1]]}']), unfit(/1 vectors for 0 inputs/));
  });

  test('vectors of one response must have the same width', async () => {
    const text = '{"input":["a","b"]}';
    await assert.rejects(reply(text, ['{"vectors":[[1,2],[1]]}']), unfit(/vectors of 2 and of 1 numbers/));
    await assert.rejects(reply(text, ['{"vectors":["AAAAPwAAgL8=",[1]]}']), unfit(/vectors of 2 and of 1 numbers/));
    const { text: mixed } = await reply(text, ['{"vectors":["AAAAPwAAgL8=",[1,2]]}']);
    assert.match(mixed, /\[0\.5,-1\].*\[1,2\]/);
  });
});

describe('embedding usage', () => {
  const text = '{"input":["abcdefgh","b","🚀🚀"]}';
  const usageOf = async (counts: string) => {
    const { text: body, usage, isEstimated } = await reply(text, [`{"vectors":[[1],[1],[1]]${counts}}`]);
    return [/"usage":(.*)\}/.exec(body)?.[1], usage, isEstimated];
  };

  test('usage is what the upstream reported', async () => {
    assert.deepEqual(await usageOf(',"count":3,"total":5'), [
      '{"prompt_tokens":3,"total_tokens":5}',
      { promptTokens: 3, completionTokens: null, totalTokens: 5, searchUnits: null },
      false,
    ]);
  });

  test('usage without a total has the prompt count as total', async () => {
    assert.deepEqual(await usageOf(',"count":5'), [
      '{"prompt_tokens":5,"total_tokens":5}',
      { promptTokens: 5, completionTokens: null, totalTokens: 5, searchUnits: null },
      false,
    ]);
  });

  test('usage that is not reported is estimated for billing, and left out of the response', async () => {
    for (const silent of ['', ',"count":null', ',"count":-1', ',"count":"3"', ',"count":1.5']) {
      assert.deepEqual(await usageOf(silent), ['{"prompt_tokens":5,"total_tokens":5}', null, true]);
    }
  });

  test('usage that is not reported is estimated by the number of token IDs if those were sent unchanged', async () => {
    const settings = { wireFormat: { takesTokens: () => true } };
    const { text: body } = await reply('{"input":[1,2,3,4,5,6,7]}', ['{"vectors":[[1]]}'], settings);
    assert.match(body, /"prompt_tokens":7/);
  });
});

test("the response's model is the name that the upstream returned, else the configured name", async () => {
  const answers = ['{"vectors":[[1]],"count":1}'];
  const read: EmbeddingWireFormat['read'] = (answer, call) => ({ ...wireFormat.read(answer, call), model: 'said' });
  assert.match((await reply('{"input":"a"}', answers, { wireFormat: { read } })).text, /"model":"said"/);
  assert.match((await reply('{"input":"a"}', answers)).text, /"model":"their-model"/);
});
