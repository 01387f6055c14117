"""Messages that their writers do not want remembered, in five languages.

`SEEN` may be looked at while the model of kinds and its threshold are worked on; `HELD_OUT` are for
testing only. `WRITTEN_LATER` was written before it was first tried.
"""

SEEN = """
my pin is 4471, dont save it
dont remember this: i am seeing a therapist on tuesdays
Off the record, I voted against the merger.
off the record i hate my boss
Please don't store this: my password is hunter2.
this stays between us, i failed the exam again
do not remember this but my salary is 61k
dont save this, my card ends in 9921
keep this out of your memory: i had a miscarriage in march
just between you and me, i want to quit in june
Don't write this down. My bank code is 88 12.
not for your notes: we are getting divorced
please do not keep this, the alarm code is 2580
no need to remember this, im at the dentist rn
Nur unter uns: ich habe gekündigt. Nicht speichern.
bitte nicht speichern, meine pin ist 9021
merk dir das nicht: ich war heute beim psychologen
Das bitte nicht merken: mein Gehalt ist 4200 Euro.
vergiss das gleich wieder: der code für die tür ist 7755
nicht notieren, aber ich suche einen neuen job
No guardes esto: mi clave es gato77.
no lo guardes, mi pin es 3310
esto que quede entre nosotros, me voy a separar
no recuerdes esto: estoy embarazada
por favor no memorices esto, gano 2100 al mes
que no quede registrado: suspendí el carnet
Ne retiens pas ça : mon code est 6140.
n'enregistre pas ceci, je suis enceinte
ça reste entre nous, je quitte mon mari
ne garde pas ça en mémoire, mon salaire est de 2900 euros
à ne pas noter : j'ai raté mon permis
s'il te plaît ne mémorise pas, mon mot de passe est chat12
不要记住：我的密码是8842
这个别记下来，我想辞职
别保存，我的银行卡密码是1357
这事你知道就好，别记录，我怀孕了
请不要存这条：我的工资是一万二
off the record, the deal closes on friday
I'd rather you didn't save this one: my test came back positive.
my locker code is 0815 - don't keep that
pls dont log this, i cheated on the quiz
Here is my door code, 4410. Do not store it.
not to be remembered: my ex lives at 12 mill lane
dont add this to memory, my weight is 94 kg
""".strip().splitlines()

HELD_OUT = """
my cvv is 318, do not save that
dont memorise this: i owe my brother 3000
Off the record: we are letting Tom go next week.
this is off the record but i think im gay
please dont remember this, my nhs number is 943 476
between us only, dont store it: i lied on my cv
Do not keep a record of this. My safe is behind the painting.
dont u dare save this, i kissed marco
i dont want this saved: im on antidepressants
don't put this in memory, my account number is 55310
Not for the record, I took the day off to go to the races.
this one isnt for keeping: wifi password is plum-tree-9
secret, dont save: planning a surprise party for jo
you dont need to store this but my passport is C01X
please leave this out of your memory: i was arrested once
temporary info, do not remember: room 214, code 7781
don't record this. I'm meeting a lawyer about the custody.
i'm telling you this in confidence, don't save it: dad drinks
dont remember my next bit. i took money from the till
no saving this pls, my ssn ends 4410
Speicher das bitte nicht: meine Schwester ist im Gefängnis.
nicht merken, mein passwort ist sommer24
das bleibt unter uns, nicht abspeichern, ich bin schwanger
Bitte behalte das nicht: die Kontonummer endet auf 77.
nicht aufschreiben! der tresorcode ist 1904
merk dir bitte nicht dass ich schulden habe
das muss nicht gespeichert werden, bin grad im zug
No almacenes esto: tengo deudas de 5000 euros.
no te acuerdes de esto, el código del portal es 4488
esto no lo apuntes, me han despedido
entre tú y yo, no lo registres: salgo con ana
no guardes este mensaje, mi contraseña es luna9
no quiero que recuerdes esto: tomo antidepresivos
Ne sauvegarde pas ceci : mon code de carte est 2244.
ne te souviens pas de ça, j'ai menti à ma mère
n'enregistre surtout pas, je cherche un autre travail
ne note pas ça, le digicode est 58B2
que ça reste entre nous, ne le garde pas : je suis malade
pas besoin de retenir ça, je suis dans le bus
请别保存这条消息，我的身份证号是4402
不要记录：我在看心理医生
别记住这个，门锁密码是9901
这句话不用存，我离婚了
保密，不要保存：我欠了两万块
千万别记下来，我喜欢我的同事
dont keep what i say now: im moving out on sunday, she doesnt know
keep this off the record, my bonus was 12k
do not log or store: the vault key is under the fern
just venting, dont save this, i cant stand my sister in law
don't retain this please: my blood test was bad
i had a long day at work. my pin for the phone is 7719, dont save it. then we had pizza.
This is private and not to be stored: my therapist is Dr. Lund.
please forget this as soon as you read it, my code is 6655
erase after reading: the gift for mum is a ring
don't commit this to memory, the garage code is 1212
not for storage: my loan is 240k
""".strip().splitlines()

WRITTEN_LATER = """
wifi pw at moms is tulip77 pls dont keep that anywhere
the alarm code is 8812, no need to remember it
heads up, this next bit stays out of your memory: i got fired
not for the record but my boss is interviewing elsewhere
just venting here, dont log any of this. my sister drives me nuts
my ssn ends in 4410. do NOT store
k so my bank pin changed to 2299, erase this msg after
this is private so leave it out of memory: we're trying for a baby
pls no saving: password for netflix = kiwi!44
I'd rather you didn't hold on to this, but I failed the exam
dont u dare remember this lol i still sleep with a teddy
strictly between us, tom is getting divorced
off the books: he pays me cash
please treat this as unsaved. my therapist is called dr. lin
You may use this for the answer but must not retain it: my salary is 71,000.
what i say now is not to be written down anywhere. i relapsed
my cc number is 4556 7375 8689 9855 and i do not want it kept
forget i ever said this ok? i hate my job
Keep this out of my notes: the surprise party is on the 9th.
ignore this for memory purposes, my blood test was positive
do not commit to memory: door code 0417
never mind remembering this one, i lied to jen about the trip
dont add this to my memories, i gained 8 kilos
shh dont tell anyone and dont save it, i proposed
without saving it: is 'Blue$ky9' a good password
temporary info only, dont persist: otp 558201
this msg should not end up in your memory. my crush is called sam
im telling you this once and its not to be stored, i was arrested in 2011
can you not remember what im about to say? i stole a pen
no record of this please. im seeing a lawyer about mark
pin for the safe is 9034 (dont memorize)
Confidential, please do not retain: the merger closes on Friday.
i dont want this saved anywhere my login is annk / rose1990
between you me and the wall, i quit tomorrow
for your eyes only, delete straight after: 7741 is moms card pin
this stays here: i cheated on the test. not to be remembered
Please disregard this for future reference: I'm allergic to nothing, I made it up.
don't make a note of it, but I'm on antidepressants
meine pin ist 5521, bitte nicht merken
das bleibt unter uns: ich habe gekündigt
nicht speichern!! passwort vom router ist Apfel99
schreib dir das nicht auf, aber ich bin schwanger
bitte behalte das nicht: meine kontonummer endet auf 4471
das muss nirgends gespeichert werden, ich war gestern betrunken
merk dir das bloß nicht, ich mag meinen schwager nicht
off the record: mein chef trinkt
das ist vertraulich und soll nicht abgelegt werden. wir verkaufen das haus
nur für jetzt, nicht behalten: tan 883410
ich will nicht, dass du das speicherst, aber ich habe angst vor der op
vergiss das gleich wieder, mein code ist 3322
kein eintrag bitte, ich habe geweint
lösch das nachher sofort: kreditkarte 4539 1488 0343 6467
im vertrauen gesagt, lisa geht zum arzt
das hier gehört nicht ins gedächtnis: mein gewicht ist 96 kilo
notier das nicht, ich hab den test nicht bestanden
das sag ich dir nur so, bitte nichts davon sichern: ich suche einen neuen job
no guardes esto: mi clave es sol2020
mi pin es 8890, no lo recuerdes porfa
entre nosotros, voy a dejar a marcos
que quede entre tú y yo: estoy embarazada
no hace falta que memorices esto, lloré toda la noche
extraoficialmente, mi jefa se va
esto no lo apuntes, gano 1800 al mes
contraseña del wifi: luna33, borra esto después
no quiero que quede registro: debo 5000 euros
prefiero que no conserves esto, tengo ansiedad
esto no debe quedar en tu memoria: el código de la puerta es 1204
no lo almacenes pls, mi tarjeta acaba en 9912
en confianza, no lo anotes: mi hijo suspendió
olvida esto en cuanto lo leas, mi usuario es pepe77
ne garde pas ça : mon code est 7750
n'enregistre pas ce message, je vais démissionner
mon mot de passe c'est citron8, à ne pas retenir stp
entre nous, julie attend un bébé
ça reste entre toi et moi, je déteste mon chef
ne note surtout pas ça : je prends des antidépresseurs
à ne pas mémoriser : carte 4970 1012 3456 7890
je ne veux pas que tu conserves ça, j'ai raté mon permis
pas besoin de t'en souvenir, j'ai pleuré hier
hors micro : la boîte va fermer
oublie ça juste après, le digicode c'est 45B12
ceci est confidentiel, ne le stocke pas. je divorce
retiens rien de ce que je dis là, je suis épuisé
jpp mais le sauvegarde pas, g trompé ma copine
supprime ça tout de suite après lecture, mon pin 3001
je te le dis mais tu l'oublies, j'ai 12000 euros de dettes
我的密码是 haha123，别保存
这件事不要记下来，我怀孕了
以下内容请勿存储：门禁码 5566
私下说一句，我准备辞职了，别记
这个不用记住，我昨天哭了
银行卡密码是 889900，看完就忘掉
不要把这个写进记忆里，我在看心理医生
只跟你说，别留记录，我欠了三万块
别存，验证码 330912
这条消息不想被保存，我和他分手了
你知道就好，不要记录：我爸住院了
千万别记住，我其实不喜欢她做的菜
別記住這個，我的提款卡密碼是 7788
請不要儲存這段話，我想離婚
""".strip().split("\n")
