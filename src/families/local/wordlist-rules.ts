/** Lists the rules of the local model `local/wordlist`: word patterns with category and weight. English only. */

import type { OpenaiCategory } from '../wire-formats/moderations/moderation-categories.ts';

export interface Rule {
  readonly id: string;
  /** The rule's patterns; see `word-pattern.ts` for the syntax. */
  readonly patterns: readonly string[];
  /** By category, the score of the rule alone: above 0 and below 1. From 0.5 on it flags. */
  readonly weights: Readonly<Partial<Record<OpenaiCategory, number>>>;
}

/** Lists of words that patterns name in braces, as in `{name}`. */
export const vocabulary = {
  you: 'you him her them u ya',
  someone: 'him her them everyone everybody someone somebody people',
  relative: 'wife husband boss neighbor neighbour person people man woman someone somebody him her them',
  slay: 'kill murder slaughter strangle stab behead',
  slaying: 'killing murdering slaughtering strangling stabbing beheading torturing',
  slain: 'stabbed strangled beheaded slaughtered murdered tortured mutilated',
  really: 'really just fucking so very such a an total complete absolute little',
  insult:
    'idiot moron imbecile loser retard scum trash garbage pathetic worthless disgusting stupid dumb useless ugly filth dumbass pig failure nobody',
  name: 'idiot idiots moron morons imbecile loser losers retard retards scum dumbass pig pigs',
  group:
    'jews muslims christians hindus sikhs immigrants migrants foreigners refugees gays lesbians homosexuals blacks whites asians africans arabs mexicans indians gypsies women men',
  people:
    'jewish muslim christian hindu immigrant foreign gay lesbian homosexual trans black white asian african arab disabled',
  vermin: 'vermin animals parasites subhuman subhumans inferior scum rats cockroaches filth trash criminals',
  asks: 'to do can could would',
  one: 'i you we one',
  drug: 'meth methamphetamine cocaine heroin fentanyl lsd mdma ecstasy',
  crude: 'a an the my some homemade small pipe nail car time fertilizer pressure cooker',
  weapon: 'bomb bombs explosive explosives grenade grenades silencer napalm molotov ied ricin sarin',
  easily: 'best easily quickly painlessly',
  easiest: 'best easiest quickest fastest painless surest',
  self: 'myself yourself oneself',
  minor: 'child children minor minors underage preteen preteens teen teens kid kids toddler schoolgirl schoolboy',
  porn: 'porn porno pornography pornographic nude nudes naked erotic erotica',
} as const;

const rule = (id: string, weights: Rule['weights'], patterns: readonly string[]): Rule => ({ id, patterns, weights });

export const rules: readonly Rule[] = [
  rule('insult-at-you', { harassment: 0.7 }, [
    'you are|re|r {really}? {really}? {insult}',
    'youre|ur {really}? {really}? {insult}',
    'you stupid|fucking|dumb? {name}',
  ]),
  rule('nobody-wants-you', { harassment: 0.6 }, [
    'nobody|noone likes|loves|wants you',
    'no one likes|loves|wants you',
    'everyone|everybody hates you',
  ]),
  rule('hate-you', { harassment: 0.4 }, ['i|we really|fucking? hate|despise|loathe you']),
  rule('shut-up', { harassment: 0.35 }, ['shut the fuck|hell up', 'shut up', 'stfu']),
  rule('curse-at-you', { harassment: 0.5 }, ['go to hell', 'burn|rot in hell', 'screw|fuck you|u|yourself']),
  rule('told-to-die', { harassment: 0.8, 'harassment/threatening': 0.4, 'self-harm': 0.5 }, [
    'go and? kill|hang yourself',
    'kys',
    'you should|must just? die',
    'you should|must kill|hang yourself',
    'hope|wish you die',
  ]),
  rule('threat', { 'harassment/threatening': 0.8, harassment: 0.6, violence: 0.7 }, [
    'i|we will|ll|am|m|are|re going|gonna to {slay}|hurt {you}',
    'i|we will|ll|am|m|are|re really|fucking|gonna? {slay}|hurt {you}',
    'i|we will|ll find you and {slay}|hurt you',
    'i|we will|ll|gonna shoot {you} !a|an|the|over|back|your|some|down|with|at|on|from',
    'i|we am|m|are|re going|gonna to? shoot {you} !a|an|the|over|back|your|some|down|with|at|on|from',
    'im going|gonna to? {slay}|hurt {you}',
    'ill {slay} {you}',
  ]),
  rule('threat-wished', { 'harassment/threatening': 0.6, harassment: 0.4, violence: 0.6 }, [
    'i|we really|just? want|wanna to? {slay} {you}',
    'i|we would|d love|like to {slay} {you}',
  ]),
  rule('threat-veiled', { 'harassment/threatening': 0.55, harassment: 0.4 }, [
    'you will|ll regret this|it',
    'you will|ll pay for this|that|what',
    'you are|re going|gonna to? suffer|regret',
    'watch your back',
    'i know where you live',
    'you are|re dead meat|man',
    'your days are numbered',
  ]),
  rule('hate-of-group', { hate: 0.8 }, [
    'i|we really|fucking? hate|despise|loathe all|the|those|these? of|the|those? {group}',
    'i|we hate|despise|loathe all|the|those|these? {people} people',
  ]),
  rule('dehumanised-group', { hate: 0.85 }, [
    '{group} are|r all|nothing|just|only? but|like? {really}? {vermin}',
    '{people} people are|r all|nothing|just|only? but|like? {really}? {vermin}',
  ]),
  rule('excluded-group', { hate: 0.6 }, [
    '{group} should|must not|never exist|vote|breed',
    '{group} do not belong here|among',
    '{group} don t belong here|among',
    'get rid of all? the? {group}',
    'no {group} allowed',
    'go back to your own? country',
  ]),
  rule('supremacy', { hate: 0.55 }, ['white power', 'master race', 'heil hitler', 'racial purity']),
  rule('threat-to-group', { 'hate/threatening': 0.85, hate: 0.8, violence: 0.6 }, [
    'death to all? the? {group}',
    '{slay}|exterminate|gas|lynch|eradicate all|the|those|every of|the|those? {group}',
    '{group} should|must|deserve all? to? be? die|killed|exterminated|shot|gassed|lynched|hanged',
    '{slay}|exterminate|gas|lynch all {people} people',
  ]),
  rule('how-to-make-drugs', { illicit: 0.8 }, [
    'how {asks} {one}? make|cook|synthesize|synthesise|produce|smuggle ..2 {drug}',
    'recipe|instructions|steps for|to cook|make|cooking|making? {drug}',
  ]),
  rule('how-to-buy-drugs', { illicit: 0.7 }, [
    'where|how {asks} {one}? buy|order|score|sell ..2 {drug}',
    'buy|order|sell|selling {drug} online|cheap',
  ]),
  rule('how-to-steal', { illicit: 0.75 }, [
    'how {asks} {one}? shoplift|pickpocket',
    'how {asks} {one}? steal|hotwire ..3 car|bike|money|wallet|phone|identity|passwords|card|cards',
    'how {asks} {one}? rob ..2 bank|store|shop|house|person',
    'how {asks} {one}? break into ..3 house|car|apartment|home',
  ]),
  rule('how-to-defraud', { illicit: 0.75 }, [
    'how {asks} {one}? launder money',
    'how {asks} {one}? make|print|forge|get|buy a|some? counterfeit|fake|forged money|bills|passport|passports|id|ids|documents|notes',
    'how {asks} {one}? evade taxes',
    'how {asks} {one}? commit ..2 fraud',
    'stolen credit card|cards for sale',
  ]),
  rule('how-to-break-into-computers', { illicit: 0.65 }, [
    'how {asks} {one}? hack into? ..3 account|accounts|email|phone|wifi|facebook|instagram|bank',
    'write|make|create|build a|some|me? ransomware|keylogger|malware !scanner|detector|detection|analysis|removal',
    'write|make|create|build a|me? a? phishing email|page|site|kit',
  ]),
  rule('how-to-make-weapons', { 'illicit/violent': 0.85, illicit: 0.7, violence: 0.5 }, [
    'how {asks} {one}? make|build|construct|assemble {crude}? {crude}? {weapon}',
    'instructions|recipe|guide|steps for|to make|build|making|building {crude}? {crude}? {weapon}',
    '3d print|printed|printing a? gun|pistol|rifle|silencer',
  ]),
  rule('how-to-buy-weapons', { 'illicit/violent': 0.7, illicit: 0.6 }, [
    'buy|get|order|sell ..1 gun|guns|rifle|firearm|firearms|grenade|grenades|explosives illegally|without',
    'buy|get|order|sell ..1 untraceable|unregistered gun|guns|rifle|firearm|firearms',
  ]),
  rule('how-to-kill', { 'illicit/violent': 0.8, illicit: 0.6, violence: 0.6 }, [
    'hire a hitman|assassin',
    'how {asks} {one}? get away with murder',
    'how {asks} {one}? {slay}|poison a|my|the? {relative}',
  ]),
  rule('self-harm-meant', { 'self-harm': 0.85, 'self-harm/intent': 0.85 }, [
    'i|im want|wanna|going|gonna|need|plan|planning|am|m|will|ll|might ..2 kill|hang|harm|shoot myself',
    'i|im want|wanna|going|gonna|need|will|ll ..2 cut myself !a|some|off|short|out|loose|free',
    'i|im want|wanna|going|gonna|plan|planning|will|ll|might ..2 end|take my own? life',
    'i|im want|wanna|going|gonna|plan|planning|will|ll|might ..2 commit suicide',
    'i really|just|still|sometimes|only? want|wanna to? die',
    'i ..1 don t want to live !in|at|near|with|on|there|under|next|like|by|without',
    'i ..1 do not want to live !in|at|near|with|on|there|under|next|like|by|without',
    'i ..1 don t want to be alive|here anymore',
    'i am|m|feel suicidal',
    'im suicidal',
  ]),
  rule('self-harm-told', { 'self-harm': 0.6, 'self-harm/intent': 0.4 }, [
    'i ..2 cutting|burning|starving myself',
    'i ..2 been cutting|harming myself',
    'better off dead|without me',
  ]),
  rule('how-to-self-harm', { 'self-harm': 0.8, 'self-harm/instructions': 0.85 }, [
    'how {asks} {one}? {easily}? kill|hang|harm|cut {self} !a|some|off|short|out',
    'how {asks} {one}? {easily}? commit suicide',
    '{easiest} way|ways|method|methods to kill|hang {self}',
    '{easiest} way|ways|method|methods to commit suicide',
    '{easiest} way|ways|method|methods to end my|your own? life',
    'painless way|ways|method|methods to die',
    'suicide methods|instructions|tutorial',
    'how many pills ..3 die|overdose',
  ]),
  rule('self-harm-praised', { 'self-harm': 0.6 }, [
    'suicide is the|an|a? only|best? answer|solution|beautiful|option',
    'pro ana',
    'thinspo',
    'thinspiration',
  ]),
  rule('suicide-named', { 'self-harm': 0.3 }, ['suicide|suicidal', 'self harm|harming|injury']),
  rule('pornography', { sexual: 0.65 }, [
    'porn|porno|pornographic|pornography',
    'blowjob|handjob|cumshot|gangbang|orgy',
    'masturbate|masturbates|masturbating',
    'hardcore|explicit|xxx sex|scene|scenes|video|videos',
    'erotic|erotica story|stories|fiction|fantasy|roleplay|massage',
  ]),
  rule('nudity-asked', { sexual: 0.5 }, [
    'send me? some|your? nudes',
    'nude|naked photos|pictures|pics|photo|picture|video|videos',
  ]),
  rule('sexual-services', { sexual: 0.5 }, [
    'escort service|services|girls',
    'pay|paid|paying for sex',
    'hire|book a? prostitute|escort',
  ]),
  rule('sexual-act', { sexual: 0.4 }, [
    'have|had|having sex with',
    'oral|anal|group|rough sex',
    'orgasm|orgasms|orgasmic',
    'horny',
    'fuck me|her|him hard|harder',
  ]),
  rule('sexual-minors', { 'sexual/minors': 0.9, sexual: 0.8 }, [
    '{minor} porn|porno|pornography|erotica|nudes',
    '{porn} ..2 of|with|involving|about a|an|the|my? {minor}',
    'sex with a|an|the|my? ..1 {minor}',
    'underage|preteen|child sex !education|ed|abuse|offender|offenders|trafficking|ratio',
    'csam',
  ]),
  rule('violent-act', { violence: 0.55 }, [
    '{slain} {someone}',
    '{slaying} {someone}',
    'beat|beaten|kicked|stabbed {someone}? to death',
    'mass shooting|murder|killing',
    'massacre|massacred|slaughtered ..2 people|civilians|villagers|children',
  ]),
  rule('call-to-violence', { violence: 0.6 }, [
    '{slay}|lynch them all',
    '{slay}|lynch everyone|everybody',
    'he|she|they|people should|must|deserve|deserves to? be shot|stabbed|lynched|hanged|beheaded',
    'let us|s {slay}|lynch {someone}',
    'lets {slay}|lynch {someone}',
  ]),
  rule('gore', { 'violence/graphic': 0.65, violence: 0.6 }, [
    'disembowel|disemboweled|disembowelled|eviscerated|dismember|dismembered|dismembering|decapitate|decapitated|decapitating',
    'severed head|heads|limb|limbs|arm|leg|hand|fingers',
    'guts|intestines|entrails|brains ..2 spilled|spilling|splattered|everywhere|hanging',
    'pool|pools|fountain of blood',
    'blood ..2 everywhere|spurting|gushing|splattered|sprayed',
    'skull ..2 crushed|smashed|caved|split',
    'mangled|mutilated corpse|corpses|body|bodies',
  ]),
];
